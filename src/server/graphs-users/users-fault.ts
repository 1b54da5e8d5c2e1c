/** Reasons for which graphs cannot run as users of their own on a machine. Pure. */

import { namesOf } from '../../settings/index.ts'
import type { UserRange } from '../../settings/index.ts'

/** Properties of a machine that can be read without a trial. */
export interface UsersMachine {
  readonly platform: string
  /** The user of this process; undefined where there are none. */
  readonly uid: number | undefined
  /** The groups of this process. */
  readonly groups: readonly number[]
  /** The texts of /etc/passwd and /etc/group; empty if there are none. */
  readonly passwd: string
  readonly group: string
}

const setting = namesOf('graphsUsers')

/** Message for the operator; undefined if users of graphs should work. */
export function usersFault(users: UserRange, machine: UsersMachine): string | undefined {
  const { platform, uid, groups, passwd, group } = machine
  if (platform !== 'linux') return `${setting} is for Linux, and this is ${platform}.`
  if (uid !== 0) {
    return `${setting} needs a server that is root, and this one is user ${uid}: the right to ` +
      'switch users would stay with the code of deployments otherwise.'
  }
  const named = ownerIn(users, passwd, 2) ?? ownerIn(users, group, 2)
  const own = groups.find((each) => isIn(users, each))
  const taken = named ?? (own === undefined ? undefined : `${own}, a group of this server`)
  return taken && `${setting} has the id ${taken}: choose ids that belong to nobody.`
}

/** Report of a trial process about itself. */
export interface UserTrial {
  /** The text of /proc/self/status. */
  readonly status: string
  /** The first folder that it may not pass, or file that it may not read; null if there is none. */
  readonly barred: string | null
}

/** Fault after the name of the setting; undefined if the trial was good. */
export function trialFault(user: number, { status, barred }: UserTrial): string | undefined {
  const rights = /^Cap(?:Prm|Eff|Amb):\s*0*[1-9a-f]/m.test(status)
  const groups = /^Groups:[ \t]*(\S.*)$/m.exec(status)?.[1]?.trim()
  if (rights || groups) {
    return `a process of user ${user} keeps rights of the server ` +
      `(${rights ? 'capabilities' : `groups ${groups}`}).`
  }
  return barred === null
    ? undefined
    : `user ${user} cannot read ${barred}: let others read it, as with chmod o+rx, ` +
      'or with o+x pass it.'
}

function ownerIn(users: UserRange, text: string, column: number): string | undefined {
  const [name, id] = text.split('\n').map((line) => line.split(':'))
    .map((fields) => [fields[0], Number(fields[column] || 'none')] as const)
    .find((each) => isIn(users, each[1])) ?? []
  return name === undefined ? undefined : `${id}, which is "${name}"`
}

function isIn({ first, last }: UserRange, id: number): boolean {
  return id >= first && id <= last
}
