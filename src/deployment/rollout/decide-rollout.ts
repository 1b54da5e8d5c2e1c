/** Decides how a roll-out goes on: from its record and the news of members, without waiting. */

import type { Deployment, DeploymentChange } from '../deployment.ts'
import type { NewEvent } from '../deployment-event.ts'
import type { Revision, RevisionChange } from '../revision.ts'
import { endedRollout } from './end-rollout.ts'
import type { RolloutEnd } from './end-rollout.ts'
import type { Prepared } from './member-port.ts'
import { movedPointer, undonePointer } from './moved-pointer.ts'
import { endEvent, memberEvent, phaseEvent, pointerEvent, revisionEvent } from './rollout-events.ts'
import type { MemberProgress, MemberState, Rollout } from '../rollout.ts'

/** Input of a decision: the record of the deployment, its members and the time. */
export interface RolloutView {
  readonly deployment: Deployment
  /** Undefined if it is gone. */
  readonly revision: Revision | undefined
  /** Members that execute runs and are alive now. */
  readonly live: readonly string[]
  /** The member that drives: it loads the revision before all others do. */
  readonly self: string
  readonly nowMs: number
}

/**
 * prepared   a member answered
 * silent     a member did not answer for `silentMs`
 * confirmed  a member has learned of the pointer
 * verdict    the runs that ended are too bad
 * tried      the trial run has ended: null if it was good
 */
export type RolloutNews =
  | { readonly kind: 'prepared'; readonly member: string; readonly answer: Prepared }
  | { readonly kind: 'silent'; readonly member: string; readonly reason: string }
  | { readonly kind: 'confirmed'; readonly member: string; readonly atMs: number }
  | { readonly kind: 'verdict'; readonly reason: string }
  | { readonly kind: 'tried'; readonly reason: string | null }

/** Call that should be under way: none is made twice at once, and a failed one is made again. */
export interface RolloutEffect {
  readonly kind: 'prepare' | 'learn' | 'tally' | 'try'
  readonly member: string
}

/** Changes, events and calls that follow from the news. */
export interface RolloutDecision {
  /** Change of the revision that is made alone, before all others, and then decided on anew. */
  readonly revisionFirst?: RevisionChange
  readonly change?: DeploymentChange
  /** Made after `change`, if that is not stale. */
  readonly revisionChange?: RevisionChange
  readonly events: readonly NewEvent[]
  readonly effects: readonly RolloutEffect[]
}

/** Milliseconds after which the members that did not confirm are named. */
export const confirmMs = 2_000
/**
 * Milliseconds in the future up to which times are believed: more than clocks of members differ by.
 */
const aheadMs = 10_000

/**
 * Milliseconds that a member may take to load a revision: to unpack it, and then a minute for its
 * graphs. For a graph that never loads, the member refuses the revision, and is not silent.
 */
export function silentMs({ prepareMs }: Pick<Rollout, 'prepareMs'>): number {
  return Math.max(Math.min(90_000, prepareMs), prepareMs / 5)
}

/** Decides on all the news since the last decision, and on the time. */
export function decideRollout(view: RolloutView, news: readonly RolloutNews[]): RolloutDecision {
  const followed = clockFollowed(view)
  let deployment: Deployment = { ...view.deployment, ...followed }
  const merged: { change: DeploymentChange; revisionChange: RevisionChange } = {
    change: { ...followed },
    revisionChange: {},
  }
  const events: NewEvent[] = []
  let effects: readonly RolloutEffect[] = []
  for (const one of [...news, null]) {
    const { rollout } = deployment
    if (rollout === null) break
    const now = { ...view, deployment }
    const decision = one === null ? goneOn(now, rollout) : applied(now, rollout, one)
    const { revisionFirst, change, revisionChange } = decision
    if (revisionFirst !== undefined) return { revisionFirst, events: [], effects: [] }
    Object.assign(merged.change, change)
    deployment = Object.assign({}, view.deployment, merged.change)
    Object.assign(merged.revisionChange, revisionChange)
    events.push(...decision.events ?? [])
    effects = decision.effects ?? []
  }
  return { ...Object.keys(merged.change).length > 0 && { change: merged.change },
    ...Object.keys(merged.revisionChange).length > 0 && { revisionChange: merged.revisionChange },
    events, effects }
}

/** Times of a roll-out that began while the clock was ahead count from now on, not from then. */
function clockFollowed({ deployment: { rollout }, nowMs }: RolloutView): DeploymentChange {
  if (rollout === null || Math.max(rollout.startedAtMs, rollout.phaseAtMs) <= nowMs + aheadMs) {
    return {}
  }
  const { startedAtMs, phaseAtMs } = rollout
  return {
    rollout: { ...rollout, startedAtMs: Math.min(startedAtMs, nowMs),
      phaseAtMs: Math.min(phaseAtMs, nowMs) },
  }
}

function applied(view: RolloutView, rollout: Rollout, news: RolloutNews): Partial<RolloutDecision> {
  // News of members that were fenced or have left is ignored.
  if ('member' in news && !view.live.includes(news.member)) return {}
  switch (news.kind) {
    case 'prepared':
      return rollout.phase === 'preparing' ? prepared(view, rollout, news) : {}
    case 'silent': {
      if (rollout.phase !== 'preparing') return {}
      const members = withState(rollout.members, { id: news.member, state: 'silent', ms: null })
      return ended(view, { ...rollout, members }, { result: 'failed', reason: news.reason })
    }
    case 'confirmed':
      return hasPointed(rollout)
        ? progressed(rollout, { id: news.member, state: 'confirmed',
          ms: sincePointedMs(rollout, news.atMs) })
        : {}
    case 'verdict':
      return rollout.phase === 'watching' ? undone(view, rollout, news.reason) : {}
    case 'tried':
      return rollout.phase === 'preparing' ? tried(view, rollout, news.reason) : {}
  }
}

/**
 * Decision after the trial run. A bad one refuses the roll-out only, not the revision: the cause
 * may go away, as with a key that has ended.
 */
function tried(view: RolloutView, rollout: Rollout,
  reason: string | null): Partial<RolloutDecision> {
  const { revision } = view
  if (revision === undefined || !isUntried(rollout, revision)) return {}
  if (reason === null) return { revisionFirst: { triedAtMs: view.nowMs } }
  const { graphId: graph_id } = revision.trial!
  return ended(view, rollout, { result: 'refused', reason,
    failures: [{ graph_id, message: reason, at: null }] })
}

/**
 * True if the revision needs a trial run. One that has served, or gets other secrets, needs none.
 */
function isUntried({ kind }: Rollout, { trial, triedAtMs, activeAtMs }: Revision): boolean {
  return (kind === 'check' || kind === 'activate') && trial != null && triedAtMs == null &&
    activeAtMs === null
}

function prepared(view: RolloutView, rollout: Rollout,
  { member, answer }: RolloutNews & { kind: 'prepared' }): Partial<RolloutDecision> {
  const { revision } = view
  if (answer.kind === 'refused') {
    const { reason, failures } = answer
    const end = ended(view, rollout, { result: 'refused', reason, failures })
    // One that has served may serve again: this member, or its secrets, may be to blame.
    if (revision === undefined || revision.activeAtMs !== null) return end
    return { ...end, revisionChange: { state: 'refused', reason, failures },
      events: [revisionEvent(rollout, revision, 'refused', reason), ...end.events ?? []] }
  }
  if (revision?.state === 'uploading') {
    return {
      revisionFirst: { state: 'ready', graphs: answer.graphs, reason: null, failures: [],
        expiresAtMs: null },
    }
  }
  return progressed(rollout, { id: member, state: 'ready', ms: answer.ms })
}

function goneOn(view: RolloutView, rollout: Rollout): Partial<RolloutDecision> {
  switch (rollout.phase) {
    case 'preparing':
      return preparing(view, rollout)
    case 'confirming':
      return confirming(view, rollout)
    case 'watching':
      return watching(view, rollout)
  }
}

function preparing(view: RolloutView, rollout: Rollout): Partial<RolloutDecision> {
  const { revision, live, self, nowMs } = view
  if (revision === undefined || revision.state === 'removed' || revision.state === 'refused') {
    return ended(view, rollout, { result: 'failed',
      reason: `${rollout.revision} was removed or refused meanwhile.` })
  }
  const members = live.map((id) => progressOf(rollout, id))
  const waiting = members.filter(({ state }) => state !== 'ready').map(({ id }) => id)
  const isChecked = revision.state === 'ready' && waiting.length < members.length
  const present = { ...rollout, members }
  if (isChecked && isUntried(rollout, revision)) {
    return nowMs < rollout.startedAtMs + rollout.prepareMs
      ? { ...changedMembers(rollout, members), effects: [{ kind: 'try', member: self }] }
      : ended(view, present, { result: 'failed', reason: `The trial run of ${rollout.revision} ` +
        `was not done within ${seconds(rollout.prepareMs)} s.` })
  }
  if (isChecked && rollout.kind === 'check') return ended(view, present, { result: 'done' })
  if (isChecked && waiting.length === 0) return pointed(view, present)
  if (nowMs >= rollout.startedAtMs + rollout.prepareMs) {
    return ended(view, present, { result: 'failed', reason: lateReason(rollout, waiting) })
  }
  // Loading it on the first member is the check: what fails there bothers no other one. One that
  // was checked before, perhaps by a driver that has died, is loaded by all at once.
  const first = live.includes(self) ? self : live[0]
  const isNew = rollout.kind === 'secrets' || rollout.takesSecrets === true
  const isKnown = isChecked || (revision.state === 'ready' && !isNew)
  const asked = isKnown ? waiting : waiting.filter((id) => id === first)
  return { ...changedMembers(rollout, members),
    effects: asked.map((member) => ({ kind: 'prepare', member })) }
}

function lateReason({ revision, prepareMs }: Rollout, waiting: readonly string[]): string {
  const late = waiting.length === 0 ? 'no member is there' : `waiting: ${waiting.join(', ')}`
  return `Not every member has loaded ${revision} within ${seconds(prepareMs)} s (${late}).`
}

/** The only place where the pointer moves forward: all members that are alive have loaded it. */
function pointed({ deployment, live, nowMs }: RolloutView,
  before: Rollout): Partial<RolloutDecision> {
  const rollout: Rollout = { ...before, phase: 'confirming', phaseAtMs: nowMs }
  const moved = movedPointer(deployment, rollout)
  return { change: { ...moved, rollout }, revisionChange: { activeAtMs: nowMs },
    events: [pointerEvent(rollout, { ...deployment, ...moved }), phaseEvent(rollout)],
    effects: live.map((member) => ({ kind: 'learn', member })) }
}

function confirming(view: RolloutView, rollout: Rollout): Partial<RolloutDecision> {
  const { live, nowMs, revision } = view
  const members: readonly MemberProgress[] = live.map((id) => progressOf(rollout, id))
  const late = members.filter(({ state }) => state !== 'confirmed')
  const noted = activeNoted(revision, rollout)
  if (late.length > 0 && nowMs < rollout.phaseAtMs + confirmMs) {
    return { ...noted, ...changedMembers(rollout, members), effects: lateEffects(members) }
  }
  const silent = late.map(({ id }): MemberProgress => ({ id, state: 'silent', ms: null }))
  const present: Rollout = { ...rollout, members: silent.reduce(withState, members) }
  const events = silent.map((member) => memberEvent(rollout, member))
  if (rollout.watchMs === 0) {
    const end = ended(view, present, { result: 'done' })
    return { ...noted, ...end, events: [...events, ...end.events ?? []] }
  }
  const next: Rollout = { ...present, phase: 'watching', phaseAtMs: nowMs }
  return { ...noted, change: { rollout: next }, events: [...events, phaseEvent(next)],
    effects: watchEffects(live, next.members) }
}

function watching(view: RolloutView, rollout: Rollout): Partial<RolloutDecision> {
  if (view.nowMs >= rollout.phaseAtMs + rollout.watchMs) {
    return ended(view, rollout, { result: 'done' })
  }
  const members = view.live.map((id) => progressOf(rollout, id))
  return { ...activeNoted(view.revision, rollout), ...changedMembers(rollout, members),
    effects: watchEffects(view.live, members) }
}

/** Another member may have moved the pointer and died before it noted this. */
function activeNoted(revision: Revision | undefined,
  { startedAtMs, phaseAtMs }: Rollout): Partial<RolloutDecision> {
  const isNoted = revision === undefined || (revision.activeAtMs ?? -1) >= startedAtMs
  return isNoted ? {} : { revisionChange: { activeAtMs: phaseAtMs } }
}

function watchEffects(live: readonly string[],
  members: readonly MemberProgress[]): readonly RolloutEffect[] {
  return [...live.map((member): RolloutEffect => ({ kind: 'tally', member })),
    ...lateEffects(members)]
}

/** Those that joined meanwhile load the revision, and all that did not confirm learn of it. */
function lateEffects(members: readonly MemberProgress[]): readonly RolloutEffect[] {
  return members.filter(({ state }) => state !== 'confirmed').flatMap(({ id, state }) => [
    { kind: 'learn' as const, member: id },
    ...state === 'waiting' ? [{ kind: 'prepare' as const, member: id }] : [],
  ])
}

function undone(view: RolloutView, rollout: Rollout, reason: string): Partial<RolloutDecision> {
  const moved = undonePointer(view.deployment, rollout)
  const end = ended(view, rollout, { result: 'rolled_back', reason })
  return { ...end, change: { ...end.change, ...moved }, events: [
    pointerEvent(rollout, { ...view.deployment, ...moved }, reason),
    ...end.events ?? [],
  ] }
}

/** End of a roll-out. If the pointer has moved, all members learn of the end. */
function ended({ live, nowMs }: RolloutView, rollout: Rollout,
  end: RolloutEnd): Partial<RolloutDecision> {
  const change = endedRollout(rollout, end, nowMs)
  return { change, events: [endEvent(change.lastRollout)],
    effects: hasPointed(rollout) ? live.map((member) => ({ kind: 'learn', member })) : [] }
}

function progressed(rollout: Rollout, progress: MemberProgress): Partial<RolloutDecision> {
  if (rankOf[progressOf(rollout, progress.id).state] >= rankOf[progress.state]) return {}
  const members = withState(rollout.members, progress)
  return { change: { rollout: { ...rollout, members } }, events: [memberEvent(rollout, progress)] }
}

/** Order of the states of a member, which only go forward: late answers change nothing. */
const rankOf: Readonly<Record<MemberState, number>> = { waiting: 0, silent: 1, ready: 2,
  confirmed: 3 }

function progressOf({ members }: Rollout, id: string): MemberProgress {
  return members.find((member) => member.id === id) ?? { id, state: 'waiting', ms: null }
}

function withState(members: readonly MemberProgress[],
  progress: MemberProgress): readonly MemberProgress[] {
  const isKnown = members.some(({ id }) => id === progress.id)
  return isKnown
    ? members.map((member) => member.id === progress.id ? progress : member)
    : [...members, progress]
}

/** Changed progress of members, with those that joined and without those that left. */
function changedMembers(rollout: Rollout,
  members: readonly MemberProgress[]): Partial<RolloutDecision> {
  const isSame = members.length === rollout.members.length &&
    members.every(({ id, state }) =>
      progressOf(rollout, id).state === state &&
      rollout.members.some((member) => member.id === id)
    )
  return isSame ? {} : { change: { rollout: { ...rollout, members } } }
}

/** Milliseconds as whole seconds. */
function seconds(ms: number): number {
  return Math.round(ms / 1_000)
}

function hasPointed({ phase }: Rollout): boolean {
  return phase !== 'preparing'
}

/** Milliseconds since the pointer moved; 0 if clocks differ. A watch begins after `confirmMs`. */
function sincePointedMs({ phase, phaseAtMs }: Rollout, atMs: number): number {
  return Math.max(0, atMs - phaseAtMs) + (phase === 'watching' ? confirmMs : 0)
}

/** Milliseconds for which nothing has to be decided without news: from 10 ms to 1 s. */
export function restMs({ phase, phaseAtMs, startedAtMs, prepareMs, watchMs }: Rollout,
  nowMs: number): number {
  const ends = { preparing: startedAtMs + prepareMs, confirming: phaseAtMs + confirmMs,
    watching: phaseAtMs + watchMs }
  return Math.min(1_000, Math.max(10, ends[phase] - nowMs))
}
