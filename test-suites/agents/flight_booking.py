"""A small agent without a model: it reads a request by patterns and keeps the booking in its memory."""

import re

DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"


def agent(input, memory):
    """One turn: what is said, which tools were used, and the memory afterwards."""
    if match := re.search(rf"flight to (\w+)(?: on ({DAYS}))?", input, re.IGNORECASE):
        return book(match[1], match[2] or "Monday", memory)
    if match := re.search(rf"(?:move|change).* to ({DAYS})", input, re.IGNORECASE):
        return change(match[1], memory)
    if re.search(r"cancel", input, re.IGNORECASE):
        return cancel(memory)
    return answer(describe(memory.get("last_booking")), [], memory)


def book(destination, day, memory):
    departure = memory.get("preferred_airport", "Heathrow")
    booking = {"departure": departure, "destination": destination, "day": day}
    said = f"Booked: {departure} to {destination} on {day}."
    return answer(said, ["find_flights", "book"], {**memory, "last_booking": booking})


def change(day, memory):
    booking = memory.get("last_booking")
    if booking is None:
        return answer("There is nothing to change.", [], memory)
    booking = {**booking, "day": day}
    said = f"Moved. Your flight from {booking['departure']} to {booking['destination']} is now on {day}."
    return answer(said, ["change"], {**memory, "last_booking": booking})


def cancel(memory):
    kept = {key: value for key, value in memory.items() if key != "last_booking"}
    return answer("Cancelled.", ["cancel"], {**kept, "cancelled": memory.get("last_booking")})


def describe(booking):
    return f"{booking['departure']} to {booking['destination']}, {booking['day']}" if booking else "Nothing is booked."


def answer(output, tools_used, memory):
    return {"output": output, "tools_used": tools_used, "memory": memory}
