import unittest
from decimal import Decimal

from parcels import Parcel, quote


class QuoteTest(unittest.TestCase):
    def test_a_small_parcel_at_home(self):
        price = quote(Parcel(weight="0.8", length=20, width=15, height=10), "domestic")
        self.assertEqual(price.net, Decimal("3.80"))
        self.assertEqual(price.total, Decimal("4.52"))

    def test_size_counts_when_it_is_more_than_weight(self):
        price = quote(Parcel(weight="0.5", length=40, width=25, height=10), "domestic")
        self.assertEqual(price.net, Decimal("4.90"))

    def test_a_bulky_parcel_costs_extra(self):
        price = quote(Parcel(weight="3", length=100, width=20, height=10), "domestic")
        self.assertEqual(price.net, Decimal("9.00"))

    def test_there_is_no_vat_abroad(self):
        price = quote(Parcel(weight="1.5", length=20, width=20, height=10), "abroad")
        self.assertEqual(price.total, Decimal("12.60"))


if __name__ == "__main__":
    unittest.main()
