/** Each kind of work on a thread, each command, and each moment: what the thread is in the end. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { describe, expect, it } from 'vitest'

import { cell, commands, moments, works } from './cut-table.ts'
import type { WorkName } from './cut-table.ts'

/**
 * A line has the thread in the end of a command before, during and after the write of the work: its
 * status, `?` for interrupts, its state with `m` for the message, and the first letters of the
 * statuses of its runs, newest first. A command with one cell changes none of that.
 */
const table = `
a run
  cancel: interrupt        | idle zero is | idle one+zero is | idle one+zero ss
  cancel: rollback         | idle zero s | idle zero s | idle one+zero ss
  cancel: only running     | idle zero is | idle one+zero is | idle one+zero ss
  cancel: of an assistant  | idle zero is | idle one+zero is | idle one+zero ss
  start: interrupt         | idle zero sis | idle one+zero sis | idle one+zero sss
  start: rollback          | idle zero ss | idle zero ss | idle one+zero sss
  start: enqueue           | idle one+zero sss | idle one+zero sss | idle one+zero sss
  start: reject            | idle one+zero ss | idle one+zero ss | idle one+zero sss
  delete_run               | idle zero s | idle one+zero s | idle one+zero s
  delete                   | gone | gone | gone
  time_limit               | error zero ts | error one+zero ts | idle one+zero ss
  lost: displaced          | idle zero ss | idle one+zero ss | idle one+zero ss
  lost: crashed            | idle zero ss | idle one+zero ss | idle one+zero ss
  rest                     | idle zero ss | idle one+zero ss | idle one+zero ss
  keep_latest              | idle one+zero ss
  edit                     | idle one+zero ss
  create                   | idle one+zero ss
  patch                    | idle one+zero ss
  patch_state              | idle one+zero ss
  copy                     | idle one+zero ss
  get                      | idle one+zero ss
  get_run                  | idle one+zero ss
  list_runs                | idle one+zero ss
  join                     | idle one+zero ss
a resume
  cancel: interrupt        | interrupted? zero is | idle one+zero is | idle one+zero ss
  cancel: rollback         | interrupted? zero s | interrupted? zero s | idle one+zero ss
  cancel: only running     | interrupted? zero is | idle one+zero is | idle one+zero ss
  cancel: of an assistant  | interrupted? zero is | idle one+zero is | idle one+zero ss
  start: interrupt         | idle zero sis | idle one+zero sis | idle one+zero sss
  start: rollback          | idle zero ss | idle zero ss | idle one+zero sss
  start: enqueue           | idle one+zero sss | idle one+zero sss | idle one+zero sss
  start: reject            | idle one+zero ss | idle one+zero ss | idle one+zero sss
  delete_run               | interrupted? zero s | idle one+zero s | idle one+zero s
  delete                   | gone | gone | gone
  time_limit               | error? zero ts | error one+zero ts | idle one+zero ss
  lost: displaced          | idle zero ss | idle one+zero ss | idle one+zero ss
  lost: crashed            | idle zero ss | idle one+zero ss | idle one+zero ss
  rest                     | idle zero ss | idle one+zero ss | idle one+zero ss
  keep_latest              | idle one+zero ss
  edit                     | idle one+zero ss
  create                   | idle one+zero ss
  patch                    | idle one+zero ss
  patch_state              | idle one+zero ss
  copy                     | idle one+zero ss
  get                      | idle one+zero ss
  get_run                  | idle one+zero ss
  list_runs                | idle one+zero ss
  join                     | idle one+zero ss
an injection
  cancel: interrupt        | idle one+zero sis | idle one+zero sis | idle m+one+zero is
  cancel: rollback         | idle zero ss | idle zero ss | idle zero s
  cancel: only running     | idle one+zero sis | idle one+zero sis | idle m+one+zero is
  cancel: of an assistant  | idle one+zero sis | idle one+zero sis | idle m+one+zero is
  start: interrupt         | idle one+zero siis | idle one+zero siis | idle m+one+zero sis
  start: rollback          | idle zero ss | idle zero ss | idle zero ss
  start: enqueue           | idle m+one+zero sss | idle m+one+zero sss | idle m+one+zero sss
  start: reject            | idle m+one+zero ss | idle m+one+zero ss | idle m+one+zero ss
  delete_run               | idle one+zero ss | idle one+zero ss | idle m+one+zero s
  delete                   | gone | gone | gone
  time_limit               | idle one+zero sts | idle one+zero sts | error m+one+zero ts
  lost: displaced          | idle one+zero sss | idle one+zero sss | idle m+one+zero ss
  lost: crashed            | idle one+zero sss | idle one+zero sss | idle m+one+zero ss
  rest                     | idle one+zero sss | idle one+zero sss | idle m+one+zero ss
  keep_latest              | idle m+one+zero ss
  edit                     | idle m+one+zero ss
  create                   | idle m+one+zero ss
  patch                    | idle m+one+zero ss
  patch_state              | idle m+one+zero ss
  copy                     | idle m+one+zero ss
  get                      | idle m+one+zero ss
  get_run                  | idle m+one+zero ss
  list_runs                | idle m+one+zero ss
  join                     | idle m+one+zero ss
an injection into a resume
  cancel: interrupt        | idle one+zero sis | idle one+zero sis | idle m+one+zero is
  cancel: rollback         | interrupted? zero ps | interrupted? zero ps | interrupted? zero s
  cancel: only running     | idle one+zero sis | idle one+zero sis | idle m+one+zero is
  cancel: of an assistant  | idle one+zero sis | idle one+zero sis | idle m+one+zero is
  start: interrupt         | idle one+zero siis | idle one+zero siis | idle m+one+zero sis
  start: rollback          | idle zero ss | idle zero ss | idle zero ss
  start: enqueue           | idle m+one+zero sss | idle m+one+zero sss | idle m+one+zero sss
  start: reject            | idle m+one+zero ss | idle m+one+zero ss | idle m+one+zero ss
  delete_run               | idle one+zero ss | idle one+zero ss | idle m+one+zero s
  delete                   | gone | gone | gone
  time_limit               | idle one+zero sts | idle one+zero sts | error m+one+zero ts
  lost: displaced          | idle one+zero sss | idle one+zero sss | idle m+one+zero ss
  lost: crashed            | idle one+zero sss | idle one+zero sss | idle m+one+zero ss
  rest                     | idle one+zero sss | idle one+zero sss | idle m+one+zero ss
  keep_latest              | idle m+one+zero ss
  edit                     | idle m+one+zero ss
  create                   | idle m+one+zero ss
  patch                    | idle m+one+zero ss
  patch_state              | idle m+one+zero ss
  copy                     | idle m+one+zero ss
  get                      | idle m+one+zero ss
  get_run                  | idle m+one+zero ss
  list_runs                | idle m+one+zero ss
  join                     | idle m+one+zero ss
an edit
  cancel: interrupt        | idle edit+zero s | idle edit+zero s | idle edit+zero s
  cancel: rollback         | idle edit+zero s | idle edit+zero s | idle edit+zero s
  cancel: only running     | idle edit+zero s | idle edit+zero s | idle edit+zero s
  cancel: of an assistant  | idle edit+zero s | idle edit+zero s | idle edit+zero s
  start: interrupt         | idle edit+zero ss | idle edit+zero ss | idle edit+zero ss
  start: rollback          | idle edit+zero ss | idle edit+zero ss | idle edit+zero ss
  start: enqueue           | idle edit+zero ss | idle edit+zero ss | idle edit+zero ss
  start: reject            | idle edit+zero ss | idle edit+zero ss | idle edit+zero ss
  delete_run               | idle edit+zero
  delete                   | gone | gone | gone
  time_limit               | idle zero s | idle zero s | idle edit+zero s
  lost: displaced          | idle zero s | idle zero s | idle edit+zero s
  lost: crashed            | idle zero s | idle zero s | idle edit+zero s
  rest                     | idle zero s | idle zero s | idle edit+zero s
  keep_latest              | idle edit+zero s
  edit                     | idle edit+zero s
  create                   | idle edit+zero s
  patch                    | idle edit+zero s
  patch_state              | idle edit+zero s
  copy                     | idle edit+zero s
  get                      | idle edit+zero s
  get_run                  | idle edit+zero s
  list_runs                | idle edit+zero s
  join                     | idle edit+zero s
an edit of a waiting thread
  cancel: interrupt        | idle edit+zero s | idle edit+zero s | idle edit+zero s
  cancel: rollback         | idle edit+zero s | idle edit+zero s | idle edit+zero s
  cancel: only running     | idle edit+zero s | idle edit+zero s | idle edit+zero s
  cancel: of an assistant  | idle edit+zero s | idle edit+zero s | idle edit+zero s
  start: interrupt         | idle edit+zero ss | idle edit+zero ss | idle edit+zero ss
  start: rollback          | idle edit+zero ss | idle edit+zero ss | idle edit+zero ss
  start: enqueue           | idle edit+zero ss | idle edit+zero ss | idle edit+zero ss
  start: reject            | idle edit+zero ss | idle edit+zero ss | idle edit+zero ss
  delete_run               | idle edit+zero
  delete                   | gone | gone | gone
  time_limit               | interrupted? zero s | interrupted? zero s | idle edit+zero s
  lost: displaced          | interrupted? zero s | interrupted? zero s | idle edit+zero s
  lost: crashed            | interrupted? zero s | interrupted? zero s | idle edit+zero s
  rest                     | interrupted? zero s | interrupted? zero s | idle edit+zero s
  keep_latest              | idle edit+zero s
  edit                     | idle edit+zero s
  create                   | idle edit+zero s
  patch                    | idle edit+zero s
  patch_state              | idle edit+zero s
  copy                     | idle edit+zero s
  get                      | idle edit+zero s
  get_run                  | idle edit+zero s
  list_runs                | idle edit+zero s
  join                     | idle edit+zero s
a copy of a busy thread
  cancel: interrupt        | interrupted? zero | interrupted? zero | interrupted? zero
  cancel: rollback         | interrupted? zero | interrupted? zero | interrupted? zero
  cancel: only running     | interrupted? zero | interrupted? zero | interrupted? zero
  cancel: of an assistant  | interrupted? zero | interrupted? zero | interrupted? zero
  start: interrupt         | interrupted? zero | interrupted? zero | interrupted? zero
  start: rollback          | interrupted? zero | interrupted? zero | interrupted? zero
  start: enqueue           | interrupted? zero | interrupted? zero | interrupted? zero
  start: reject            | interrupted? zero | interrupted? zero | interrupted? zero
  delete_run               | interrupted? zero
  delete                   | gone | interrupted? zero | interrupted? zero
  time_limit               | error? zero | interrupted? zero | interrupted? zero
  lost: displaced          | interrupted? zero | interrupted? zero | interrupted? zero
  lost: crashed            | interrupted? zero | interrupted? zero | interrupted? zero
  rest                     | interrupted? zero
  keep_latest              | interrupted? zero
  edit                     | interrupted? zero
  create                   | interrupted? zero
  patch                    | interrupted? zero
  patch_state              | interrupted? zero
  copy                     | interrupted? zero
  get                      | interrupted? zero
  get_run                  | interrupted? zero
  list_runs                | interrupted? zero
  join                     | interrupted? zero
`

/** The cells of each command, by work. */
const expected = new Map<string, Map<string, readonly string[]>>()
for (const line of table.trim().split('\n')) {
  const [name = '', ...cells] = line.trim().split(/ *\| */)
  if (cells.length === 0) expected.set(name, new Map())
  else [...expected.values()].at(-1)!.set(name, cells)
}

const variants = Object.values(commands).flatMap((each) =>
  typeof each === 'string' ? [] : Object.entries(each)
)

describe('the table of work and commands', () => {
  it('has each command that a thread takes', () => {
    const file = resolve(import.meta.dirname, '../../../../src/thread/model/command.ts')
    const types = [...readFileSync(file, 'utf8').matchAll(/readonly type: '(\w+)'/g)]
      .map(([, type]) => type!)
    expect(types.length).toBeGreaterThan(25)
    expect(Object.keys(commands).toSorted()).toEqual([...new Set(types)].toSorted())
  })

  it('has no empty cell', () => {
    const names = variants.map(([name]) => name)
    expect([...expected.keys()]).toEqual(Object.keys(works))
    for (const [work, cells] of expected) {
      expect([...cells.keys()], work).toEqual(names)
      for (const each of cells.values()) expect([1, moments.length]).toContain(each.length)
    }
  })
})

describe.each(Object.keys(works) as WorkName[])('%s', (work) => {
  it.each(variants)('ends as the table has it with %s', async (name, send) => {
    const cells = expected.get(work)?.get(name) ?? []
    const found: string[] = []
    for (const moment of cells.length === 1 ? ['during'] as const : moments) {
      found.push(await cell(work, send, moment))
    }
    expect(found).toEqual(cells)
  })
})
