"""What programs do, as far as an approval dialog has to know."""
