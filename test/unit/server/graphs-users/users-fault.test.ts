/** Why a server refuses to run graphs as users of their own. */

import { describe, expect, it } from 'vitest'

import { trialFault, usersFault } from '../../../../src/server/graphs-users/users-fault.ts'

const users = { first: 70_000, last: 70_099 }
const machine = { platform: 'linux', uid: 0, groups: [0], group: 'root:x:0:\n',
  passwd: 'root:x:0:0:root:/root:/bin/sh\nother:x:7000:70001::/:/bin/sh\n' }

describe('the machine', () => {
  it('is good if nobody has the ids', () => {
    expect(usersFault(users, machine)).toBeUndefined()
    expect(usersFault(users, { ...machine, passwd: '', group: '' })).toBeUndefined()
  })

  it.each<[Parameters<typeof usersFault>[1], string]>([
    [{ ...machine, platform: 'darwin', uid: 501 }, 'is for Linux, and this is darwin.'],
    [{ ...machine, uid: 70_000 }, 'needs a server that is root, and this one is user 70000'],
    [{ ...machine, passwd: `${machine.passwd}shop:x:70099:5::/:/bin/sh` },
      'has the id 70099, which is "shop"'],
    [{ ...machine, group: 'root:x:0:\nwheel:x:70000:shop\n' },
      'has the id 70000, which is "wheel"'],
    [{ ...machine, groups: [0, 70_001] }, 'has the id 70001, a group of this server'],
  ])('is refused: %o', (wrong, says) => {
    expect(usersFault(users, wrong)).toContain(`--graphs-users (or HEDDLE_GRAPHS_USERS) ${says}`)
  })
})

describe('what a process of a user says', () => {
  const status = 'Groups:\t \nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n' +
    'CapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nCapAmb:\t0000000000000000\n'

  it('is good without rights of the server', () => {
    expect(trialFault(70_000, { status, barred: null })).toBeUndefined()
    expect(trialFault(70_000, { status: status.replace('Inh:\t0', 'Inh:\t1'), barred: null }))
      .toBeUndefined()
  })

  it.each(['Prm', 'Eff', 'Amb'])('is refused with capabilities: %s', (set) => {
    const kept = status.replace(`Cap${set}:\t000000000000000`, `Cap${set}:\t00000000000000c`)
    expect(trialFault(70_000, { status: kept, barred: null })).toContain('capabilities')
  })

  it('is refused with groups, and where it cannot read', () => {
    const grouped = status.replace('Groups:\t \n', 'Groups:\t4 27 \n')
    expect(trialFault(70_000, { status: grouped, barred: null })).toContain('groups 4 27')
    expect(trialFault(70_000, { status, barred: '/root' })).toContain('cannot read /root')
  })
})
