"""Note acceptors on SSP, the serial protocol of one maker's validators, plain and encrypted (eSSP)."""
