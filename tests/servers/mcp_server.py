"""A small MCP server on the official SDK, over stdio: `python -m tests.servers.mcp_server`."""

import asyncio
import os
import sys
from typing import Annotated, Any

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


class Booking(BaseModel):
    name: str
    seats: int


async def booking() -> Elicit[Booking]:
    return Elicit("Whose seats?", Booking)


def make_server(**more: Any) -> MCPServer:
    server = MCPServer("sample", **more)

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def environment() -> str:
        """Names and values of this process's variables."""
        return "\n".join(f"{name}={value}" for name, value in sorted(os.environ.items()))

    @server.tool()
    def place() -> str:
        """Where this process works, and its id."""
        return f"{os.getcwd()} {os.getpid()}"

    @server.tool()
    def picture() -> Image:
        """A picture of one dot."""
        return Image(data=PNG, format="png")

    @server.tool()
    def long(characters: int) -> str:
        """Very much text."""
        return "x" * characters

    @server.tool()
    def fail(why: str) -> str:
        """Fail."""
        raise ToolError(why)

    @server.tool()
    async def count(to: int, context: Context[Any]) -> str:
        """Count, and say how far it is."""
        for number in range(1, to + 1):
            await context.report_progress(number, to, f"at {number}")
        return "counted"

    @server.tool()
    async def wait(context: Context[Any]) -> str:
        """Never end."""
        await context.report_progress(0, 1, "waiting")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            print("it was cancelled", file=sys.stderr, flush=True)
            raise
        return ""

    @server.tool()
    async def complain(context: Context[Any]) -> str:
        """Log something."""
        await context.log("warning", "the cheese is old")
        return "said"

    @server.tool()
    async def book(booked: Annotated[Booking, Resolve(booking)]) -> str:
        """Ask for a booking."""
        return f"{booked.seats} for {booked.name}"

    @server.tool()
    async def grow(context: Context[Any]) -> str:
        """Offer one more tool."""

        def grown() -> str:
            """It was not there before."""
            return "grown"

        server.add_tool(grown)
        await context.notify_tools_changed()
        return "done"

    @server.resource("notes://today", name="today", description="What is to be done today")
    def today() -> str:
        return "Buy cheese."

    @server.prompt()
    def review(path: str, care: str = "some") -> str:
        """Review a file."""
        return f"Review {path} with {care} care."

    return server


if __name__ == "__main__":
    make_server().run("stdio")
