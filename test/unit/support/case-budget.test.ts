/** A case that costs too much fails, whatever the machine does beside it. */

import { expect, it } from 'vitest'

import { judgeCase } from '../../support/budget/case-budget.ts'
import { listedCases } from '../../support/budget/listed-cases.ts'

const quiet = () => ({ cpu: 1, wall: 1 })
const unit = { file: 'test/unit/x.test.ts', title: 'x', cpuMs: 20, wallMs: 9_000, searchMs: 0 }
const real = { ...unit, file: 'test/e2e/x.test.ts' }

it('A unit is judged by processor time, others by time, and searches count nowhere.', () => {
  expect(judgeCase(unit, quiet).kind).toBe('fine')
  expect(judgeCase({ ...unit, cpuMs: 651 }, quiet)).toEqual({ kind: 'too dear',
    message: expect.stringMatching(/^x costs 651 ms of processor, of 500\. /) as string })
  expect(judgeCase({ ...unit, cpuMs: 651, searchMs: 2 }, quiet).kind).toBe('fine')
  expect(judgeCase(real, quiet).kind).toBe('too dear')
  expect(judgeCase({ ...real, wallMs: 4_999 }, quiet).kind).toBe('fine')
})

it('A machine that is slower gives more time, and one that is far slower judges nobody.', () => {
  expect(judgeCase({ ...unit, cpuMs: 970 }, () => ({ cpu: 1.5, wall: 1.5 })).kind).toBe('fine')
  expect(judgeCase({ ...unit, cpuMs: 980 }, () => ({ cpu: 1.5, wall: 1.5 })).kind).toBe('too dear')
  expect(judgeCase({ ...unit, cpuMs: 5_000 }, () => ({ cpu: 1, wall: 2 })).kind)
    .toBe('too busy to judge')
})

it('A case that is listed may cost more.', () => {
  const [file, titles] = Object.entries(listedCases)[0]!
  const listed = { ...real, file, title: Object.keys(titles)[0]! }
  expect(judgeCase(listed, quiet).kind).toBe('fine')
  expect(judgeCase({ ...listed, title: 'another' }, quiet).kind).toBe('too dear')
})
