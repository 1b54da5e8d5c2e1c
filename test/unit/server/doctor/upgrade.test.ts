/** Whether an upgrade may begin, and whether there is a way back. */

import { describe, expect, it } from 'vitest'

import { examineUpgrade } from '../../../../src/server/doctor/upgrade.ts'
import type { UpgradeReading } from '../../../../src/server/doctor/upgrade.ts'

const own = { version: '2.0.0+a', tables: 9 }
const [before, otherBuild] = [{ version: '1.9.0+b', tables: 8 }, { version: '1.9.0+c', tables: 8 }]

const reading: UpgradeReading = { version: own.version, running: [before], oldestAfter: 6,
  schema: { known: own.tables, oldest: 6, newest: 8 } }

const verdicts = (change: Partial<UpgradeReading>) =>
  examineUpgrade({ ...reading, ...change }).map(({ verdict }) => verdict)

describe('an upgrade', () => {
  it.each<[string, Partial<UpgradeReading>, readonly string[]]>([
    ['may begin', {}, ['ok', 'ok', 'ok']],
    ['may go on', { running: [before, own] }, ['ok', 'ok', 'ok']],
    ['may begin from two builds that support the same tables', { running: [before, otherBuild] }, [
      'ok',
      'ok',
      'ok',
    ]],
    ['of a data directory may begin', { running: [] }, ['ok', 'ok', 'ok']],
    ['waits for another one', { running: [{ ...before, tables: 7 }, before] }, ['bad', 'ok', 'ok']],
    ['waits for another one of members with equal versions', {
      running: [{ ...before, tables: 7 }, { ...otherBuild, version: before.version }],
    }, ['bad', 'ok', 'ok']],
    ['waits for another one of members that report no tables', {
      running: [{ version: '1.9.0' }, before],
    }, ['bad', 'ok', 'ok']],
    ['waits for a member', { running: [before, null] }, ['bad', 'ok', 'ok']],
    ['needs a newer program', { schema: { known: 5, oldest: 6, newest: 8 } }, ['ok', 'bad', 'ok']],
    ['has no way back', { oldestAfter: 9 }, ['ok', 'ok', 'warn']],
  ])('%s', (_, change, expected) => {
    expect(verdicts(change)).toEqual(expected)
  })

  it('names the builds of the members that are up', () => {
    const [{ message } = { message: '' }] = examineUpgrade({ ...reading,
      running: [before, otherBuild] })
    expect(message).toBe('Members of 1.9.0+b and 1.9.0+c are up, and this program is 2.0.0+a.')
  })
})
