"""The HTTP transport shared by providers: client, decoding, retries, rate limits, errors."""
