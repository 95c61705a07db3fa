"""Randomness of the rounds: hardware bytes -> health tests -> HMAC_DRBG -> one 256-bit seed a round.

health.py: cutoffs and names of the tests (the tests themselves are in the C core). drbg.py: the generator of SP 800-90A.
known_answers.py: what both must answer before they are trusted. generator.py: the states, and when what is asked for.
"""
