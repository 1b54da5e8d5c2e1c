/**
 * Work and cursors of a rule as a state machine: (state, command, now) → state, effects. Pure.
 *
 * 1. Effects on spans come first, the cursor after them. What is repeated after a failure has the
 *    ids that it had before.
 * 2. Calls of judges are charged before they are made.
 */

import type { RuleSpendLimit } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { nextUseDay } from '../../../limits/index.ts'
import { hourOf, hourOfKey, keptHours, keyAt } from '../../ingest/ended/ended-span.ts'

/** Start times of the spans that a backfill covers. */
export interface BackfillWindow {
  readonly fromUs: number
  readonly throughUs: number
}

/** Spans that started in a period, oldest first: for a backfill or a trigger. */
export interface SecondCursor extends BackfillWindow {
  /** Of the question; null at the beginning. */
  readonly cursor: string | null
  readonly looked: number
  readonly applied: number
  readonly askedMs: number
}

/** State of a rule that is kept between two looks: cursors, counts and alerts. */
export interface RuleState {
  /** Rises with each change: the owner before can change nothing any more. */
  readonly version: number
  /** The key of the last ends that were read. */
  readonly cursor: string
  readonly second: SecondCursor | null
  /** Backfills that start after `second`, in this order. */
  readonly waiting: readonly BackfillWindow[]
  /** The last time that a second cursor came to its end. */
  readonly filledMs: number | null
  readonly looked: number
  readonly applied: number
  readonly failed: number
  /** Lines of the log so far. */
  readonly logged: number
  readonly appliedMs: number | null
  readonly error: { readonly atMs: number; readonly text: string } | null
  /** A day in UTC, and what was used on it. */
  readonly day: string
  readonly calls: number
  readonly tokens: number
  /** Alerts that have fired and not ended, by what they measure. */
  readonly firing: Readonly<Record<string, FiredAlert>>
}

/** A crossing of a bound. */
export interface FiredAlert {
  readonly sinceMs: number
  /** Its endpoint was called, or cannot be. */
  readonly delivered: boolean
}

/** Outcome of a rule for one span: its line of the log and its tokens. */
export interface SpanOutcome {
  readonly line: LogEntry
  readonly tokens: number
}

/** A line of the log of a rule. */
export interface LogEntry {
  readonly outcome: 'done' | 'failed' | 'skipped' | 'alert'
  readonly run_id?: string
  readonly trace_id?: string
  readonly session_id?: string
  /** One sentence. */
  readonly message: string
  readonly actions?: readonly ActionEntry[]
}

/** Outcome of one action of a rule on one span, with a message. */
export interface ActionEntry {
  readonly kind: 'queue' | 'dataset' | 'webhook' | 'evaluator'
  readonly outcome: 'done' | 'failed' | 'skipped'
  readonly message: string
  /** The trace of the judge. */
  readonly judge_run_id?: string
}

/** A line with its number and time. */
export interface LoggedEntry extends LogEntry {
  readonly no: number
  readonly atMs: number
}

/** Commands to a rule; each one makes a new version of its state. */
export type RuleCommand =
  /** Reads ends from now on. */
  | { readonly kind: 'begin' }
  /** The clock was ahead when ends were read, and is not any more: reads those from a while ago. */
  | { readonly kind: 'go_back' }
  /** Goes over what began in a time. */
  | { readonly kind: 'trigger'; readonly fromUs: number; readonly throughUs: number }
  /** Wants calls of judges. The answer says how many may be made. */
  | { readonly kind: 'charge'; readonly calls: number; readonly limit: RuleSpendLimit | null }
  /** Did what is to be done about some spans. */
  | { readonly kind: 'settle'; readonly looked: number; readonly outcomes: readonly SpanOutcome[];
    readonly at: Progress }
  /** Measured an alert. */
  | { readonly kind: 'measure'; readonly alert: string; readonly crossed: boolean }
  /** The endpoint of an alert was called. */
  | { readonly kind: 'deliver'; readonly alert: string; readonly line: LogEntry }

/** Cursor of a rule after some spans, in the ends or in the second source. */
export type Progress =
  | { readonly source: 'ended'; readonly cursor: string }
  /** The question has no cursor when all were read. */
  | { readonly source: 'second'; readonly cursor: string | null; readonly askedMs: number }

/** Effects of a command, carried out in this order; the new state is saved last. */
export type RuleEffect =
  | { readonly kind: 'log'; readonly entries: readonly LoggedEntry[];
    /** Numbers of lines that are kept no more: from, and before. */
    readonly forget: readonly [number, number] }
  /** Ends of these hours are kept no more: from, and before. */
  | { readonly kind: 'drop_hours'; readonly from: number; readonly before: number }

/** Result of a command: the new state, the effects and the calls granted. */
export interface RuleDecision {
  readonly state: RuleState
  readonly effects: readonly RuleEffect[]
  /** Of `charge`: calls that may be made. */
  readonly granted: number
}

/** A rule is looked at within half of that, so that it notices a clock that went back. */
const backMs = 120_000
/** No cursor is that far ahead of a clock that is right: ends are read when they are old enough. */
const aheadMs = 1_000

/** Backfills that may wait while another one is in progress. */
export const waitingBackfillsMax = 20

/** Lines of a log that are kept. */
export const logLines = 1_000
const messageMax = 1_000

/** A rule that has done nothing yet. */
export const unbegun: RuleState = { version: 0, cursor: '', second: null, waiting: [],
  filledMs: null, looked: 0, applied: 0, failed: 0, logged: 0, appliedMs: null, error: null,
  day: '', calls: 0, tokens: 0, firing: {} }

/** Decides a command: makes the next version of the state, and its effects. */
export function decideRule(state: RuleState, command: RuleCommand, nowMs: number): RuleDecision {
  const after = decided(state, command, nowMs)
  return { granted: 0, effects: [], ...after,
    state: { ...after.state, version: state.version + 1 } }
}

type Decided = Pick<RuleDecision, 'state'> & Partial<RuleDecision>

function decided(state: RuleState, command: RuleCommand, nowMs: number): Decided {
  switch (command.kind) {
    case 'begin':
      return { state: { ...state, cursor: keyAt(nowMs * 1_000) } }
    case 'go_back':
      return { state: { ...state, cursor: keyAt((nowMs - backMs) * 1_000) } }
    case 'trigger':
      return { state: triggered(state, command, nowMs) }
    case 'charge':
      return charged(state, command.calls, command.limit)
    case 'settle':
      return settled(state, command, nowMs)
    case 'measure':
      return { state: measured(state, command, nowMs) }
    case 'deliver':
      return afterDelivery(state, command, nowMs)
  }
}

/** Returns the state with today's use. `nowMs` comes from a cautious clock. */
export function rollOverDay(state: RuleState, nowMs: number): RuleState {
  const { day, isNew } = nextUseDay(state.day, nowMs)
  return { ...state, day, ...isNew && { calls: 0, tokens: 0 } }
}

/** A backfill starts at once, or after earlier backfills. Throws `full`. */
function triggered(state: RuleState, { fromUs, throughUs }: BackfillWindow,
  nowMs: number): RuleState {
  const { second, waiting } = state
  const all = [...waiting, { fromUs, throughUs }]
  if (second === null) return startBackfill({ ...state, waiting: all }, nowMs)
  // The backfill in progress may have passed the start of a window in it.
  const isCovered = waiting.some((each) => each.fromUs <= fromUs && throughUs <= each.throughUs)
  if (isCovered) return state
  if (waiting.length < waitingBackfillsMax) return { ...state, waiting: all }
  throw new HeddleError('full', `${waitingBackfillsMax} backfills of this rule are waiting. Try ` +
    'again when one of them has ended.')
}

/** Starts the next backfill that waits. */
function startBackfill(state: RuleState, nowMs: number): RuleState {
  const [next, ...waiting] = state.waiting
  // It names the backfill: no two of a rule have the same.
  const askedMs = Math.max(nowMs, (state.second?.askedMs ?? 0) + 1)
  const second = next && { ...next, cursor: null, looked: 0, applied: 0, askedMs }
  return { ...state, waiting, second: second ?? null }
}

function charged(state: RuleState, wanted: number, limit: RuleSpendLimit | null): Decided {
  const left = (limit?.calls_per_day ?? Infinity) - state.calls
  const spent = state.tokens >= (limit?.tokens_per_day ?? Infinity)
  const granted = spent ? 0 : Math.max(0, Math.min(wanted, left))
  return { state: { ...state, calls: state.calls + granted }, granted }
}

function settled(state: RuleState,
  { looked, outcomes, at }: Extract<RuleCommand, { kind: 'settle' }>, nowMs: number): Decided {
  const count = (outcome: LogEntry['outcome']) =>
    outcomes.filter(({ line }) => line.outcome === outcome).length
  const [done, failed] = [count('done'), count('failed')]
  const fault = outcomes.findLast(({ line }) => line.outcome === 'failed')?.line.message
  const { after, effect } = logged(state, outcomes.map(({ line }) => line), nowMs)
  const moved = movedTo(after, at, { looked, done, nowMs })
  return {
    state: {
      ...moved,
      looked: state.looked + looked,
      applied: state.applied + done,
      failed: state.failed + failed,
      tokens: state.tokens + outcomes.reduce((sum, { tokens }) => sum + tokens, 0),
      appliedMs: done + failed > 0 ? nowMs : state.appliedMs,
      error: fault === undefined ? state.error : { atMs: nowMs, text: fault },
    },
    effects: [...effect, ...droppedHours(state.cursor, moved.cursor)],
  }
}

function movedTo(state: RuleState, at: Progress,
  { looked, done, nowMs }: { readonly looked: number; readonly done: number;
    readonly nowMs: number }): RuleState {
  if (at.source === 'ended') {
    return { ...state, cursor: at.cursor > state.cursor ? at.cursor : state.cursor }
  }
  // A member of an earlier version may have replaced the backfill meanwhile.
  if (state.second?.askedMs !== at.askedMs) return state
  if (at.cursor === null) return { ...startBackfill(state, nowMs), filledMs: nowMs }
  return { ...state,
    second: { ...state.second, cursor: at.cursor, looked: state.second.looked + looked,
      applied: state.second.applied + done } }
}

/** Ends are kept for the slowest rule for a week. */
function droppedHours(before: string, after: string): readonly RuleEffect[] {
  if (before === '' || after === '') return []
  const [from, to] = [hourOfKey(before), hourOfKey(after)]
  return from === to
    ? []
    : [{ kind: 'drop_hours', from: Math.max(from, to - keptHours) - keptHours,
      before: to - keptHours }]
}

/** An alert fires once for each crossing. */
function measured(state: RuleState, { alert, crossed }: Extract<RuleCommand, { kind: 'measure' }>,
  nowMs: number): RuleState {
  const { [alert]: before, ...others } = state.firing
  if (!crossed) return { ...state, firing: others }
  return { ...state,
    firing: { ...others, [alert]: before ?? { sinceMs: nowMs, delivered: false } } }
}

function afterDelivery(state: RuleState, { alert, line }: Extract<RuleCommand, { kind: 'deliver' }>,
  nowMs: number): Decided {
  const fired = state.firing[alert]
  if (fired === undefined || fired.delivered) return { state }
  const { after, effect } = logged(state, [line], nowMs)
  const firing = { ...state.firing, [alert]: { ...fired, delivered: true } }
  return { state: { ...after, firing }, effects: effect }
}

function logged(state: RuleState, lines: readonly LogEntry[],
  nowMs: number): { readonly after: RuleState; readonly effect: readonly RuleEffect[] } {
  if (lines.length === 0) return { after: state, effect: [] }
  const entries = lines.map((line, at): LoggedEntry => ({ ...line,
    message: line.message.slice(0, messageMax), no: state.logged + at, atMs: nowMs })
  )
  const next = state.logged + lines.length
  const forget = [Math.max(0, state.logged - logLines), Math.max(0, next - logLines)] as const
  return { after: { ...state, logged: next }, effect: [{ kind: 'log', entries, forget }] }
}

/** True if the cursor was moved under a clock that was ahead: it would skip spans that end now. */
export function isAhead({ cursor }: Pick<RuleState, 'cursor'>, nowMs: number): boolean {
  return cursor > keyAt((nowMs + aheadMs) * 1_000)
}

/** The hours whose ends a rule that ends leaves behind: from, and before. */
export function hoursLeft(nowMs: number): readonly [number, number] {
  const hour = hourOf(nowMs * 1_000)
  return [hour - 2 * keptHours, hour + 1]
}
