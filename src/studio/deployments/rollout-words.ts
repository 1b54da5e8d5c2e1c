/** Words for revisions and roll-outs. */

import type { ChipTone } from '../parts/chip.tsx'
import { counted, duration } from '../parts/amounts.ts'
import type { MemberProgress, Outcome, Revision, Rollout } from '../api/control/deployment.ts'

/** The phases of a roll-out that moves the pointer, in their order. */
export const phases = ['preparing', 'confirming', 'watching'] as const

/** Action of the members in each phase of a roll-out. */
export const phaseWords: Readonly<Record<Rollout['phase'], string>> = {
  preparing: 'Members load it',
  confirming: 'Members switch',
  watching: 'Runs are watched',
}

/** State of a member in a roll-out, in words. */
export const memberWords: Readonly<Record<MemberProgress['state'], string>> = { waiting: 'Loading',
  ready: 'Loaded', confirmed: 'Switched', silent: 'Silent' }

/** The colour of a member's state. */
export const memberTones: Readonly<Record<MemberProgress['state'], ChipTone>> = {
  waiting: 'plain',
  ready: 'running',
  confirmed: 'done',
  silent: 'waiting',
}

/** Title of a roll-out that is under way. */
export function rolloutTitle(
  { kind, revision, percent }: Pick<Rollout, 'kind' | 'revision' | 'percent'>,
): string {
  switch (kind) {
    case 'check':
      return `${revision} is checked`
    case 'rollback':
      return `Rolls back to ${revision}`
    case 'secrets':
      return `${revision} starts with changed secrets`
    case 'activate':
      return percent < 100 ? `${revision} gets ${percent} % of new runs` : `Rolls out ${revision}`
  }
}

/** Progress of a roll-out, as one line. */
export function progressWords({ phase, members }: Pick<Rollout, 'phase' | 'members'>): string {
  const wanted = phase === 'preparing' ? ['ready', 'confirmed'] : ['confirmed']
  const done = members.filter(({ state }) => wanted.includes(state)).length
  return phase === 'watching'
    ? 'Ended runs are watched'
    : `${done} of ${counted(members.length, 'member')} ${
      phase === 'preparing' ? 'loaded it' : 'switched'
    }`
}

/** Outcome of a roll-out, in one sentence without its reason. */
export function outcomeWords({ kind, revision, from, percent, result }: Outcome): string {
  switch (result) {
    case 'refused':
      return `${revision} was refused`
    case 'failed':
      return kind === 'check' ? `The check of ${revision} failed` : `${revision} was not rolled out`
    case 'rolled_back':
      return `${revision} was taken back${from === null ? '' : ` to ${from}`}`
    case 'done':
      return doneWords(kind, revision, percent)
  }
}

function doneWords(kind: Outcome['kind'], revision: string, percent: number): string {
  switch (kind) {
    case 'check':
      return `${revision} was checked`
    case 'rollback':
      return `Rolled back to ${revision}`
    case 'secrets':
      return `${revision} runs with changed secrets`
    case 'activate':
      return percent < 100
        ? `${revision} got ${percent} % of new runs`
        : `${revision} became active`
  }
}

/** Number of members that followed a roll-out, and the time that it took. */
export function outcomeFigures({ members, started_at: began, ended_at: ended }: Outcome): string {
  const followed = members.filter(({ state }) => state !== 'silent' && state !== 'waiting').length
  return `${followed} of ${counted(members.length, 'member')}, ${
    duration(Date.parse(ended) - Date.parse(began))
  }`
}

/** The word and the colour of a revision: what it does for the deployment counts most. */
export function revisionState({ name, state }: Pick<Revision, 'name' | 'state'>,
  deployment: { readonly active: string | null;
    readonly next: { readonly revision: string; readonly percent: number } | null }
): {
  readonly word: string
  readonly tone: ChipTone
} {
  const { active, next } = deployment
  if (name === active) return { word: 'Active', tone: 'done' }
  if (name === next?.revision) return { word: `${next.percent} % of new runs`, tone: 'running' }
  return { word: stateWords[state], tone: stateTones[state] }
}

const stateWords: Readonly<Record<Revision['state'], string>> = { uploading: 'Uploading',
  building: 'Building', ready: 'Ready', refused: 'Refused', removed: 'Removed' }

const stateTones: Readonly<Record<Revision['state'], ChipTone>> = { uploading: 'plain',
  building: 'running', ready: 'accent', refused: 'failed', removed: 'plain' }

/** Seconds in whole days, hours or minutes. */
export function span(seconds: number): string {
  for (const [unit, one] of [[86_400, 'day'], [3_600, 'hour'], [60, 'minute']] as const) {
    if (seconds >= unit) return counted(Math.round(seconds / unit), one)
  }
  return counted(seconds, 'second')
}
