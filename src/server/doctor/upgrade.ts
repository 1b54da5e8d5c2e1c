/** Decides whether servers can be upgraded to this program, and back. Pure over readings. */

import type { Finding } from './checks.ts'
import type { SchemaReading } from './reading.ts'

/** Versions of the program, of the tables and of the members. */
export interface UpgradeReading {
  /** The version of this program. */
  readonly version: string
  readonly schema: SchemaReading
  /** The oldest program that could work with the tables after the upgrade. */
  readonly oldestAfter: number
  /** The members that are up; null for a member that does not respond. */
  readonly running: readonly (RunningProgram | null)[]
}

/** The program of a member. */
export interface RunningProgram {
  readonly version: string
  /** The newest version of the tables that it supports; members of earlier builds report none. */
  readonly tables?: number
}

/** Findings about versions, tables and the way back, each with the step that must come first. */
export function examineUpgrade(reading: UpgradeReading): readonly Finding[] {
  return [versions(reading), tables(reading), wayBack(reading)]
}

function versions({ version, running, schema: { known } }: UpgradeReading): Finding {
  const check = 'versions'
  const members = running.filter((each) => each !== null)
  if (members.length < running.length) {
    return { check, verdict: 'bad', message: 'A member does not respond.',
      cure: 'See its log; "heddle members" lists all.' }
  }
  const others = members.filter((each) => each.version !== version)
  const names = [...new Set(others.map((each) => each.version))].join(' and ')
  // Builds that support the same tables work with each other.
  const older = others.filter(({ tables }) => tables !== known)
  if (new Set(older.map(({ tables }) => tables)).size > 1) {
    return { check, verdict: 'bad',
      message: `Members of ${names} are up, and support different tables.`,
      cure: 'Finish the upgrade before this one first.' }
  }
  return { check, verdict: 'ok', message: others.length === 0
    ? `This program is ${version}.`
    : `Members of ${names} are up, and this program is ${version}.` }
}

function tables({ schema: { known, oldest, newest } }: UpgradeReading): Finding {
  const check = 'tables'
  if (oldest > known) {
    return { check, verdict: 'bad',
      message: `The tables need version ${oldest}, and this program knows ${known}.`,
      cure: 'Take a newer program.' }
  }
  return { check, verdict: 'ok', message: newest >= known
    ? `The tables are of version ${newest}: the start changes none.`
    : `The first start brings the tables from version ${newest} to ${known}.` }
}

function wayBack({ schema: { newest }, oldestAfter }: UpgradeReading): Finding {
  const check = 'way back'
  if (oldestAfter <= newest) {
    return { check, verdict: 'ok',
      message: 'The programs that run now can work with the tables after the upgrade.' }
  }
  return { check, verdict: 'warn',
    message: `After the upgrade, only programs that know version ${oldestAfter} can start.`,
    cure: 'Make a backup first: it is the only way back.' }
}
