"""The ground floor: mechanisms that several rooms need, none of which knows Amplifier."""
