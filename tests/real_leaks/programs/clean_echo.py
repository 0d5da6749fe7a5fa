"""A server answers its clients, and closes their connections."""
import asyncio

from loop import turns


async def answer(reader, writer):
    writer.write(await reader.readline())
    await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for turn in turns(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"request %d\n" % turn)
        await reader.readline()
        writer.close()
        await writer.wait_closed()
    server.close()


asyncio.run(main())
