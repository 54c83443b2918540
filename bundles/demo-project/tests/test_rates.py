import unittest
from decimal import Decimal

from parcels.rates import TooHeavy, bracket_for


class RatesTest(unittest.TestCase):
    def test_a_light_parcel_is_in_the_first_bracket(self):
        self.assertEqual(bracket_for("domestic", Decimal("0.4")).price, Decimal("3.80"))

    def test_the_limit_belongs_to_its_bracket(self):
        self.assertEqual(bracket_for("domestic", Decimal("2")).price, Decimal("4.90"))

    def test_the_heaviest_parcel_is_still_taken(self):
        self.assertEqual(bracket_for("abroad", Decimal("10")).price, Decimal("31.50"))

    def test_beyond_the_last_bracket_nobody_takes_it(self):
        with self.assertRaises(TooHeavy):
            bracket_for("abroad", Decimal("10.1"))


if __name__ == "__main__":
    unittest.main()
