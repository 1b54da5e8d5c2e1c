/** Commands that an actor remembers: all of a minute, within a bound, and some that are older. */

import { expect, it } from 'vitest'

import type { AppliedCommand } from '../../../proto/gen/storage/v1/row.ts'
import { findApplied, withApplied } from '../../../src/owned-row/index.ts'

const commands = (count: number, atMs?: number) =>
  Array.from({ length: count }, (_, at): AppliedCommand => ({ id: `${atMs}-${at}`, seq: at, atMs }))

const after = (all: readonly AppliedCommand[]) =>
  all.reduce<AppliedCommand[]>((list, command) => withApplied(list, command), [])

it('More answers than 32 may be lost at once.', () => {
  const all = commands(100, 1_000_000)
  const known = after(all)
  expect(all.filter(({ id }) => findApplied(known, id) === undefined)).toEqual([])
})

it('The newest 128 are remembered at most.', () => {
  const all = commands(200, 1_000_000)
  expect(after(all)).toEqual(all.slice(-128))
})

it('Of those that are older than a minute, or have no time, 32 are left with the newest.', () => {
  for (const old of [commands(100, 1_000_000), commands(100)]) {
    const young = commands(1, 1_060_000)
    expect(after([...old, ...young])).toEqual([...old, ...young].slice(-32))
    const many = commands(40, 1_060_000)
    expect(after([...old, ...many])).toEqual(many)
  }
})

it('A clock that went back lets none be forgotten.', () => {
  const all = [...commands(50, 9_000_000), ...commands(50, 1_000_000)]
  expect(after(all)).toEqual(all)
})
