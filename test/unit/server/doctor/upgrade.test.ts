/** Whether an upgrade may begin, and whether there is a way back. */

import { describe, expect, it } from 'vitest'

import { examineUpgrade } from '../../../../src/server/doctor/upgrade.ts'
import type { UpgradeReading } from '../../../../src/server/doctor/upgrade.ts'

const reading: UpgradeReading = { version: '2.0.0', running: ['1.9.0'], oldestAfter: 6,
  schema: { known: 9, oldest: 6, newest: 8 } }

const verdicts = (change: Partial<UpgradeReading>) =>
  examineUpgrade({ ...reading, ...change }).map(({ verdict }) => verdict)

describe('an upgrade', () => {
  it.each<[string, Partial<UpgradeReading>, readonly string[]]>([
    ['may begin', {}, ['ok', 'ok', 'ok']],
    ['may go on', { running: ['1.9.0', '2.0.0'] }, ['ok', 'ok', 'ok']],
    ['of a data directory may begin', { running: [] }, ['ok', 'ok', 'ok']],
    ['waits for another one', { running: ['1.8.0', '1.9.0'] }, ['bad', 'ok', 'ok']],
    ['waits for a member', { running: ['1.9.0', null] }, ['bad', 'ok', 'ok']],
    ['needs a newer program', { schema: { known: 5, oldest: 6, newest: 8 } }, ['ok', 'bad', 'ok']],
    ['has no way back', { oldestAfter: 9 }, ['ok', 'ok', 'warn']],
  ])('%s', (_, change, expected) => {
    expect(verdicts(change)).toEqual(expected)
  })
})
