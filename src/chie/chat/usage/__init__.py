"""What requests to models cost: prices, the record of every request, and monthly limits."""
