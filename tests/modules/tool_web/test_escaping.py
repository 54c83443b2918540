"""Addresses that lead elsewhere than the public internet, however they are written."""

import pytest

from amplifier_tui.modules._shared.tool import ToolProblem
from amplifier_tui.modules.tool_web.addresses import is_public, named, read_address
from amplifier_tui.modules.tool_web.fetching import Fetcher
from amplifier_tui.modules.tool_web.settings import WebSettings
from tests.modules.tool_web.support import Names, Site, fetch, kind

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "ftp://a.org/", "gopher://a.org/", "javascript:alert(1)", "a.org"),
        *("http://", "http:///path", "https://?q", "http://:80/", "http://a..org/"),
        *("http://user@a.org/", "http://user:secret@a.org/", "http://a.org@127.0.0.1/"),
        *("http://a.org\\@127.0.0.1/", "http://a.org /", "http://a.org\n/", "http://a.org/\x00"),
        *("http://a.org\t.evil.org/", "http://a.org%00.evil.org/", "http://a.org%2eevil.org/"),
        *("http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/"),
        *("http://0x7f.0.0.1/", "http://127.0.0.0x1/", "http://1.2.3.4.5/", "http://127.0.1/"),
        *("http://[::1/", "http://[fe80::1%25eth0]/", "http://[v1.a]/", "http://[::1]evil.org/"),
        *("http://a.org:22/", "http://a.org:25/", "http://a.org:99999/", "http://a.org:x/"),
        *(
            "http://ⓛocalhost/",
            "http://bücher.example/",
            "http://127。0。0。1/",
            "http://１２７.0.0.1/",
        ),
        "http://a.org/" + "a" * 5000,
    ],
)
def test_an_unclear_address_is_refused(url: str) -> None:
    with pytest.raises(ToolProblem) as refused:
        read_address(url)
    assert refused.value.kind == "invalid_address"
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "requested"),
    [
        ("HTTPS://Docs.Example.ORG", "https://docs.example.org/"),
        ("http://a.org:80/x#part", "http://a.org/x"),
        ("http://a.org.:8080/", "http://a.org:8080/"),
        ("https://a.org/ü b".replace(" ", "%20"), "https://a.org/%C3%BC%20b"),
        ("https://a.org/?q=a|b&c=[d]", "https://a.org/?q=a%7Cb&c=[d]"),
        ("https://[2606:4700::1111]:8443/", "https://[2606:4700::1111]:8443/"),
    ],
)
def test_a_plain_address_is_requested_in_one_form(url: str, requested: str) -> None:
    assert read_address(url).url == requested


def test_the_ascii_form_of_a_name_is_told() -> None:
    with pytest.raises(ToolProblem, match=r"xn--bcher-kva\.example"):
        read_address("https://bücher.example/")


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
        *("198.18.0.1", "192.0.2.1", "203.0.113.9", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("192.88.99.1", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254"),
        *("fec0::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
        *("::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1"),
        *("2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "localhost", "", "1.2.3"),
    ],
)
def test_an_address_of_this_machine_or_a_network_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", [PUBLIC, "1.1.1.1", "2606:4700::1111", "64:ff9b::5db8:d70e", "::ffff:1.1.1.1"]
)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


def test_a_star_stands_for_names_below_and_not_for_the_name_itself() -> None:
    patterns = ("*.Example.org", "a.com")
    assert named("docs.example.org", patterns) and named("a.com", patterns)
    assert not any(named(host, patterns) for host in ("example.org", "b.a.com", "badexample.org"))


def fetcher(names: Names, **config: object) -> Fetcher:
    return Fetcher(WebSettings.read(config), names.backend())


async def test_the_connection_goes_to_the_address_that_was_checked(site: Site) -> None:
    site.put("/", "hello")
    names = Names(site, [PUBLIC], ["127.0.0.1"])
    answer = await fetcher(names).get(read_address("http://rebind.example/"))
    assert answer.body == b"hello"
    assert (names.looked_up, names.connected) == (["rebind.example"], [PUBLIC])
    assert site.requests[0][1]["host"] == "rebind.example"


async def test_a_name_that_leads_elsewhere_the_second_time_is_refused_then(site: Site) -> None:
    site.put("/", status=302, Location="/next")
    names = Names(site, [PUBLIC], ["127.0.0.1"])
    with pytest.raises(ToolProblem, match=r"127\.0\.0\.1, which is not an address of the public"):
        await fetcher(names).get(read_address("http://rebind.example/"))
    assert (names.connected, site.paths) == ([PUBLIC], ["/"])


async def test_one_private_address_among_public_ones_is_enough_to_refuse(site: Site) -> None:
    names = Names(site, [PUBLIC, "::ffff:169.254.169.254"])
    with pytest.raises(ToolProblem) as refused:
        await fetcher(names).get(read_address("http://both.example/"))
    assert refused.value.kind == "private_address"
    assert names.connected == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_is_not_read_unless_the_settings_name_it(site: Site, host: str) -> None:
    site.put("/", "mine")
    address = site.url("/", host)
    assert kind(await fetch(address, private_hosts=[])) == "private_address"
    assert site.requests == []
    assert (await fetch(address, private_hosts=[host])).success


@pytest.mark.parametrize(
    "location",
    [
        *("http://169.254.169.254/latest/meta-data", "http://localhost:{port}/", "//127.0.0.2/"),
        *("http://127.0.0.1:{other}/", "https://127.0.0.1:{port}/", "http://other.example/"),
    ],
)
async def test_a_redirect_to_another_server_is_reported_and_not_followed(
    site: Site, location: str
) -> None:
    location = location.format(port=site.port, other=site.port % 60_000 + 2000)
    result = await fetch(site.put("/", status=302, Location=location))
    assert kind(result) == "redirect"
    assert location.removeprefix("//") in result.output
    assert site.paths == ["/"]


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://2130706433/", "http://u@a.org"])
async def test_a_redirect_to_no_address_of_the_web_is_refused(site: Site, location: str) -> None:
    assert kind(await fetch(site.put("/", status=301, Location=location))) == "invalid_address"


def test_a_redirect_may_lead_to_the_encrypted_side_of_a_server_and_not_back() -> None:
    plain, tls = read_address("http://a.org/"), read_address("https://a.org/x")
    assert plain.may_lead_to(tls) and not tls.may_lead_to(plain)
    assert not plain.may_lead_to(read_address("https://a.org:8443/"))


async def test_redirects_on_one_server_are_followed_to_a_limit(site: Site) -> None:
    site.put("/b", "there")
    result = await fetch(site.put("/a", status=307, Location="b"))
    assert result.output == f"Source: {site.url('/b')}\n\nthere"
    site.put("/loop", status=302, Location="/loop")
    site.requests.clear()
    assert kind(await fetch(site.url("/loop"), max_redirects=3)) == "redirects"
    assert len(site.requests) == 4


async def test_servers_can_be_listed_and_left_out(site: Site) -> None:
    page = site.put("/", "x")
    assert kind(await fetch(page, denied_hosts=["127.*"])) == "denied_host"
    assert kind(await fetch(page, allowed_hosts=["*.example.org"])) == "denied_host"
    assert site.requests == []
    assert (await fetch(page, allowed_hosts=["127.0.0.1"])).success


@pytest.mark.parametrize("host", ["[::ffff:1.2.3.4]", "[::ffff:102:304]", "1.2.3.4."])
async def test_a_denied_address_is_denied_in_its_other_spellings(host: str) -> None:
    assert kind(await fetch(f"http://{host}/", denied_hosts=["1.2.3.4"])) == "denied_host"
