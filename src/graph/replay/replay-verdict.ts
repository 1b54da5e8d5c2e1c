/** The verdict on a run that was replayed on another revision. Pure. */

import { isObject, memberOf, valueIn } from '../../json/index.ts'
import { maskedJson, maskedText } from './call-identity.ts'
import type { ReplayedRun } from './replay-execution.ts'
import type { CallSite, MovedCall, ReplayStop, ShownCall } from './replay-report.ts'
import { fitsRedacted } from './redacted-text.ts'
import { textDifference } from './text-difference.ts'

/**
 * same            the same calls, and the same state after each step
 * same_result     the same state at the end, by other calls or steps
 * diverged        a call that was not recorded, or another state
 * fixed           the recorded run had failed, and this one has not
 * failed          this one failed, and the recorded run had not
 * unstable        the recorded revision itself does not come out equal
 * not_replayable  it cannot be said
 */
export type Verdict = (typeof verdicts)[number]

/** All verdicts, in the order in which they are shown. */
export const verdicts = ['same', 'same_result', 'diverged', 'fixed', 'failed', 'unstable',
  'not_replayable'] as const

/** An error as runs have it. */
interface FailureText {
  readonly error: string
  readonly message: string
}

/** The recorded run as far as it is known. */
export interface RecordedEnding {
  readonly hasFailed: boolean
  /** With which it failed; undefined if it has not. */
  readonly error: FailureText | undefined
  /** True if it waited for a person; undefined if that is not known. */
  readonly waits: boolean | undefined
  /** JSON of the state values at its end; undefined if that is not known. */
  readonly values: string | undefined
}

/** A verdict with what it rests on. */
export interface Judgement {
  readonly verdict: Verdict
  /** A sentence; null for `same`. */
  readonly reason: string | null
  /** Superstep at which it differs; null if that is none, or outside of steps. */
  readonly step: number | null
  /** Node at which it differs, behind those around it. */
  readonly node: string | null
  readonly asked: ShownCall | null
  readonly recorded: ShownCall | null
  /** Calls of the recording that a node of another name has made. */
  readonly moved: readonly MovedCall[]
  readonly missing: readonly ShownCall[]
}

/** Name under which a state has the questions of its nodes. */
const interrupts = '__interrupt__'

const none: Judgement = { verdict: 'same', reason: null, step: null, node: null, asked: null,
  recorded: null, moved: [], missing: [] }

/** A verdict that needs no comparison. */
export function verdictFor(verdict: Verdict, reason: string): Judgement {
  return { ...none, verdict, reason }
}

/** Why the recorded revision does not replay its own run; undefined if it does. */
export function faultOfControl(control: ReplayedRun, ending: RecordedEnding):
  | Judgement
  | undefined {
  const { end, report: { stop, missing, moved } } = control
  if (end === 'late') return verdictFor('not_replayable', 'It takes longer than a replay may.')
  if (end === 'lost') return verdictFor('unstable', 'Its process ended.')
  if (stop?.kind === 'connects') return verdictFor('not_replayable', stopText(stop))
  if (stop?.kind === 'items') return verdictFor('not_replayable', stopText(stop))
  if (stop) return { ...atCall(stop), verdict: 'unstable' }
  if (missing.length > 0 || moved.length > 0) {
    return { ...none, verdict: 'unstable', reason: 'Its calls come out otherwise.', moved, missing }
  }
  if (hasFailed(control) !== ending.hasFailed) {
    return verdictFor('unstable', 'It ends otherwise than the recorded run.')
  }
  return isRecordedState(control.values, ending.values)
    ? undefined
    : verdictFor('unstable', 'Its state comes out otherwise than that of the recorded run.')
}

/** Compares a replay with the control, or without one with the recorded run. */
export function judge(next: ReplayedRun, control: ReplayedRun | undefined,
  ending: RecordedEnding): Judgement {
  const { end, report: { stop, missing, moved } } = next
  if (end === 'late') return verdictFor('failed', 'It takes longer than a replay may.')
  if (end === 'lost') return verdictFor('failed', 'Its process ended.')
  if (stop) {
    const judgement = { ...atCall(stop), moved }
    return goesOn(stop, next, control, ending)
      ? { ...judgement, verdict: 'fixed', reason: 'It fails no more, and goes on.' }
      : judgement
  }
  const both = { moved, missing }
  if (hasFailed(next) && !ending.hasFailed) {
    return { ...none, ...both, verdict: 'failed', reason: errorText(next) }
  }
  if (!hasFailed(next) && ending.hasFailed) {
    return { ...none, ...both, verdict: 'fixed', reason: 'It fails no more.' }
  }
  const isEqualEnd = control
    ? isSameState(next.values, control.values)
    : isRecordedState(next.values, ending.values)
  const isEqualError = control
    ? errorText(next) === errorText(control)
    : fitsRedacted(messageOf(next.outcome?.error), messageOf(ending.error))
  const change = control && firstChange(control, next)
  const waits = next.outcome?.waiting === true
  const waited = control ? control.outcome?.waiting === true : ending.waits
  if (waited !== undefined && waits !== waited) {
    return { ...none, ...change, ...both, verdict: 'diverged',
      reason: waits ? 'It waits for a person.' : 'It waits for nobody any more.' }
  }
  if (control && questionsOf(next) !== questionsOf(control)) {
    return { ...none, ...change, ...both, verdict: 'diverged', reason: 'It asks something else.' }
  }
  if (!isEqualEnd || !isEqualError) {
    return { ...none, ...change, ...both, verdict: 'diverged', reason: change?.reason
      ?? (isEqualError
        ? 'The state at the end differs.'
        : `It fails otherwise: ${errorText(next)}`) }
  }
  if (change === undefined && missing.length === 0 && moved.length === 0) return none
  return { ...none, ...change, ...both, verdict: 'same_result',
    reason: callsText(missing.length, moved) ?? change?.reason ?? null }
}

/** True for a new call in the step in which the recorded run had failed, or behind it. */
function goesOn(stop: ReplayStop, next: ReplayedRun, control: ReplayedRun | undefined,
  { hasFailed: hadFailed }: RecordedEnding): boolean {
  if (!hadFailed || control === undefined || stop.kind !== 'call') return false
  if (stop.recorded !== null || stop.asked.site === null) return false
  const first = control.firstStep ?? next.firstStep
  // If neither has ended a step, the call is in the one in which the recorded run had failed.
  return first === undefined || stop.asked.site.step >= first + control.steps.length
}

function hasFailed({ outcome }: ReplayedRun): boolean {
  return outcome?.error != null
}

function errorText({ outcome }: ReplayedRun): string {
  const { error, at } = { error: outcome?.error, at: outcome?.at }
  return messageOf(error) + (error && at ? ` (${at})` : '')
}

function messageOf(error: FailureText | null | undefined): string {
  return error ? maskedText(`${error.error}: ${error.message}`).slice(0, 500) : ''
}

function atCall(stop: ReplayStop): Judgement {
  if (stop.kind !== 'call') return verdictFor('diverged', stopText(stop))
  const { asked, recorded } = stop
  return { ...none, verdict: 'diverged', step: asked.site?.step ?? null,
    node: asked.site && nodeText(asked.site), asked, recorded, reason: recorded === null
      ? `New call: ${asked.method} ${asked.url}`
      : `Other call: ${asked.method} ${asked.url}` }
}

function stopText(stop: Exclude<ReplayStop, { readonly kind: 'call' }>): string {
  return stop.kind === 'connects'
    ? `It connects to ${stop.to}, which is no HTTP call.`
    : 'It reads or writes long-term memory, which recordings do not have.'
}

function callsText(missing: number, [moved]: readonly MovedCall[]): string | undefined {
  if (moved) return `Moved: ${nodeText(moved.from)} → ${nodeText(moved.to)}`
  if (missing === 0) return undefined
  return missing === 1 ? '1 call less.' : `${missing} calls less.`
}

function nodeText(site: CallSite | null): string {
  return site === null ? 'outside of nodes' : site.nodes.join('/')
}

type Change = Pick<Judgement, 'step' | 'node' | 'reason' | 'asked' | 'recorded'>

/** The first step at which other nodes ran, or one wrote something else. */
function firstChange({ steps: before, ...control }: ReplayedRun,
  { steps: after, ...next }: ReplayedRun): Change | undefined {
  const first = control.firstStep ?? next.firstStep ?? 1
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    const [was, now] = [before[at] ?? [], after[at] ?? []]
    const [wasNodes, nowNodes] = [was, now].map((tasks) => tasks.map(({ node }) => node).join(', '))
    const place = { step: first + at, asked: null, recorded: null }
    if (wasNodes !== nowNodes) {
      return { ...place, node: nowNodes || null,
        reason: `Other nodes: ${wasNodes || 'none'} → ${nowNodes || 'none'}` }
    }
    for (const [index, { node, writes }] of now.entries()) {
      const old = was[index]!.writes
      const channel = [...new Set([...Object.keys(old), ...Object.keys(writes)])]
        .find((name) => old[name] !== writes[name])
      if (channel === undefined) continue
      const [a, b] = textDifference(old[channel] ?? '', writes[channel] ?? '')
      return { ...place, node, reason: `Channel ${channel}: ${a} → ${b}` }
    }
  }
  return undefined
}

/** True if two replays end with the same state, apart from ids and times. */
function isSameState(next: string | undefined, control: string | undefined): boolean {
  return (next === undefined) === (control === undefined)
    && comparedState(stateIn(next)) === comparedState(stateIn(control))
}

/**
 * True if the state has what the log has, apart from ids and times, and secrets that a recording
 * hides. The log has the values of all channels, and a replay shows those of the graph's output.
 */
function isRecordedState(text: string | undefined, recorded: string | undefined): boolean {
  if (recorded === undefined) return true
  const [state, other] = [stateIn(text), stateIn(recorded)]
  const shown = isObject(state) && isObject(other)
    ? Object.fromEntries(Object.entries(other).filter(([name]) => Object.hasOwn(state, name)))
    : other
  return fitsRedacted(comparedState(state), comparedState(shown))
}

function stateIn(text: string | undefined): unknown {
  return valueIn(text ?? '{}')
}

/** The state in canonical form, with ids and times masked. Questions are no channel of it. */
function comparedState(state: unknown): string {
  if (!isObject(state)) return maskedJson(state)
  const { [interrupts]: _, ...channels } = state
  return maskedJson(channels)
}

/** Questions of a run to a person, without their ids, which differ each time. */
function questionsOf({ outcome }: ReplayedRun): string {
  const asked = valueIn(outcome?.interrupts ?? '{}')
  const questions = isObject(asked) ? Object.values(asked).flat() : []
  return questions.map((each) => maskedJson(memberOf(each, 'value'))).sort()
    .join()
}
