/** State of the frame of a component: its bounds, and when it is taken away. */

import { isObject } from '../json/is-object.ts'

/**
 * loading  its page comes
 * ready    its page has come, and gets what to show
 * shown    the component is drawn
 * failed   it is taken away, and a sentence is there instead
 */
export type FramePhase = 'loading' | 'ready' | 'shown' | 'failed'

/** State of a frame. Times are of a clock that never jumps. */
export interface FrameState {
  readonly phase: FramePhase
  /** CSS pixels. */
  readonly height: number
  /** A sentence; empty if nothing is wrong. */
  readonly reason: string
  /** It tried to start a run. */
  readonly wanted: boolean
  /** Time of its last message. */
  readonly lastMs: number
  /** Messages since the last tick. */
  readonly mails: number
}

/** Bounds of a frame. */
export const frameLimits = { heightMin: 24, heightMax: 600, silentMs: 6_000, mailsATick: 100,
  reasonLength: 300 } as const

/** The frame when it begins. */
export const begunFrame = (nowMs: number): FrameState => ({ phase: 'loading', height: 60,
  reason: '', wanted: false, lastMs: nowMs, mails: 0 })

/** The frame that is taken away for a reason. */
const failed = (state: FrameState, reason: string): FrameState => ({ ...state, phase: 'failed',
  reason })

/** The frame after a message of it. What has no form of one counts, and says nothing. */
export function received(before: FrameState, mail: unknown, nowMs: number): FrameState {
  if (before.phase === 'failed') return before
  const state = { ...before, lastMs: nowMs, mails: before.mails + 1 }
  if (state.mails > frameLimits.mailsATick) {
    return failed(state, 'The component does not stop sending: it was taken away.')
  }
  if (!isObject(mail)) return state
  const { kind, height, reason } = mail
  if (kind === 'ready') return state.phase === 'loading' ? { ...state, phase: 'ready' } : state
  if (kind === 'wanted') return { ...state, wanted: true }
  if (kind === 'failed') return failed(state, sentenceOf(reason))
  if (kind === 'size' && typeof height === 'number' && Number.isFinite(height)) {
    return { ...state, phase: 'shown', height: bounded(height) }
  }
  return state
}

const bounded = (height: number) =>
  Math.min(frameLimits.heightMax, Math.max(frameLimits.heightMin, Math.ceil(height)))

const sentenceOf = (reason: unknown) =>
  typeof reason === 'string' && reason !== ''
    ? reason.slice(0, frameLimits.reasonLength)
    : 'The component failed.'

/** The frame after a second, in a tab that is seen. */
export function ticked(state: FrameState, nowMs: number): FrameState {
  if (state.phase === 'failed') return state
  if (nowMs - state.lastMs <= frameLimits.silentMs) {
    return state.mails === 0 ? state : { ...state, mails: 0 }
  }
  return failed(state, state.phase === 'loading'
    ? 'The frame of the component could not be loaded.'
    : 'The component does not answer: it was taken away.')
}
