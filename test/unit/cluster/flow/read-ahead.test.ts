/** Reading ahead: in order, a few at a time, and no further than the consumer continues. */

import { expect, it } from 'vitest'

import { readAhead } from '../../../../cluster/flow/read-ahead.ts'

/** Reads that the test ends, in any order. */
function reads() {
  const begun: number[] = []
  const ends = new Map<number, PromiseWithResolvers<string>>()
  const read = (item: number) => {
    begun.push(item)
    const end = Promise.withResolvers<string>()
    ends.set(item, end)
    return end.promise
  }
  return { begun, read, end: (item: number) => ends.get(item)!.resolve(`read ${item}`),
    fail: (item: number) => ends.get(item)!.reject(new Error(`failed ${item}`)) }
}

const items = [0, 1, 2, 3, 4]

it('Results come in the order of the items, in whatever order the reads end.', async () => {
  const { begun, read, end } = reads()
  const ahead = readAhead(3, items, read)
  const first = ahead.next()
  await expect.poll(() => begun).toEqual([0, 1, 2])
  end(2)
  end(1)
  end(0)
  expect(await first).toEqual({ value: 'read 0', done: false })
  const rest: string[] = []
  const all = (async () => {
    for await (const each of ahead) rest.push(each)
  })()
  await expect.poll(() => begun).toEqual(items)
  end(4)
  end(3)
  await all
  expect(rest).toEqual(['read 1', 'read 2', 'read 3', 'read 4'])
})

it('Nothing more is read once the consumer stops.', async () => {
  const { begun, read, end } = reads()
  const ahead = readAhead(2, items, read)
  const first = ahead.next()
  await expect.poll(() => begun).toEqual([0, 1])
  end(0)
  await first
  await ahead.return()
  end(1)
  expect(begun).toEqual([0, 1])
})

it('A failure comes at its place in the order, and nothing more is read.', async () => {
  const { begun, read, end, fail } = reads()
  const ahead = readAhead(2, items, read)
  const first = ahead.next()
  await expect.poll(() => begun).toEqual([0, 1])
  fail(1)
  // Its turn has not come: it must not be an unhandled rejection meanwhile.
  await new Promise(setImmediate)
  end(0)
  expect((await first).value).toBe('read 0')
  await expect(ahead.next()).rejects.toThrow('failed 1')
  expect(await ahead.next()).toEqual({ value: undefined, done: true })
  expect(begun).toEqual([0, 1, 2])
})

it('The items may be read ahead themselves.', async () => {
  const once = readAhead(3, items, async (item) => 2 * item)
  const twice = readAhead(2, once, async (item) => item + 1)
  const all: number[] = []
  for await (const each of twice) all.push(each)
  expect(all).toEqual([1, 3, 5, 7, 9])
})
