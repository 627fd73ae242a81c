"""Share the HTTP transport of the providers: client, decoding, retries, rate limits, errors."""
