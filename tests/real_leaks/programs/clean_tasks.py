"""Tasks in groups, some of which fail."""
import asyncio

from loop import turns


async def work(n):
    await asyncio.sleep(0)
    if n == 7:
        raise ValueError(n)
    return [n] * 100


async def group():
    try:
        async with asyncio.TaskGroup() as tasks:
            for n in range(20):
                tasks.create_task(work(n))
    except* ValueError:
        pass


async def main():
    for turn in turns(60):
        await group()

asyncio.run(main())
