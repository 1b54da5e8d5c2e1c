/** Replays in words and shares: verdicts, states, places and what is asked for. Pure. */

import { verdicts } from '../../addresses/deployments.ts'
import type { ReplaySearch } from '../../addresses/deployments.ts'
import type { Replay, ReplayBody, ReplayedRun, ReplayProgress } from '../../api/control/replays.ts'
import type { Revision } from '../../api/control/deployment.ts'
import { count, counted } from '../../parts/amounts.ts'
import type { ChipTone } from '../../parts/chip.tsx'
import { dollars } from '../../parts/trace-words.ts'

/** A verdict on a run. */
export type Verdict = ReplayedRun['verdict']

/** Words, tone and meaning of each verdict. */
export const verdictWords: Readonly<Record<Verdict, {
  readonly word: string
  readonly tone: ChipTone
  readonly colour: string
  readonly means: string
}>> = {
  same: { word: 'same', tone: 'done', colour: 'var(--woad)',
    means: 'The same calls, and the same state after each step' },
  same_result: { word: 'same result', tone: 'running', colour: 'var(--teal)',
    means: 'The same state at the end, by other calls or steps' },
  diverged: { word: 'diverged', tone: 'failed', colour: 'var(--madder)',
    means: 'A call that was not recorded, another state, or another question' },
  fixed: { word: 'fixed', tone: 'accent', colour: 'var(--indigo)',
    means: 'The recorded run had failed, and this one has not' },
  failed: { word: 'failed', tone: 'failed', colour: 'var(--madder)',
    means: 'This one failed, and the recorded run had not' },
  unstable: { word: 'unstable', tone: 'waiting', colour: 'var(--weld)',
    means: 'The recorded revision itself comes out otherwise' },
  not_replayable: { word: 'not replayable', tone: 'plain', colour: 'var(--ink-3)',
    means: 'It cannot be said, for a reason' },
}

/** Word and tone of the state of a replay. */
export const phaseWords: Readonly<Record<Replay['phase'], {
  readonly word: string
  readonly tone: ChipTone
}>> = {
  running: { word: 'Running', tone: 'running' },
  done: { word: 'Done', tone: 'done' },
  failed: { word: 'Failed', tone: 'failed' },
  cancelled: { word: 'Cancelled', tone: 'plain' },
}

/** The verdicts that were given, with their numbers. */
export function givenVerdicts(counts: ReplayProgress['verdicts']): readonly {
  readonly verdict: Verdict
  readonly runs: number
}[] {
  return verdicts.map((verdict) => ({ verdict, runs: counts[verdict] }))
    .filter(({ runs }) => runs > 0)
}

/** "171 same, 8 diverged", or that there is none yet. */
export function countsText(counts: ReplayProgress['verdicts']): string {
  const given = givenVerdicts(counts)
    .map(({ verdict, runs }) => `${count(runs)} ${verdictWords[verdict].word}`)
  return given.length === 0 ? 'no verdict' : given.join(', ')
}

/** "12 of 200 runs", or what a replay does before there are any. */
export function progressText({ done, replay: { runs, phase } }: ReplayProgress): string {
  if (runs === null) return phase === 'running' ? 'Chooses the runs' : 'No runs were chosen'
  return phase === 'done' ? counted(runs, 'run') : `${count(done)} of ${counted(runs, 'run')}`
}

/** "step 3, research/plan"; empty where that is not known. */
export function placeText({ step, node }: Pick<ReplayedRun, 'step' | 'node'>): string {
  return [...step === null ? [] : [`step ${step}`], ...node === null ? [] : [node]].join(', ')
}

/** "1,920 → at least 1,330" tokens, and their cost; null where neither is known. */
export function usageText({ recorded, replayed, is_at_least: isLeast }: ReplayProgress['usage']): {
  readonly tokens: string | null
  readonly cost: string | null
} {
  const text = (before: string, after: string) =>
    `${before} → ${isLeast ? 'at least ' : ''}${after}`
  const tokens = (many: number | null) => many === null ? '–' : count(many)
  return {
    tokens: recorded.tokens === null && replayed.tokens === null
      ? null
      : text(tokens(recorded.tokens), tokens(replayed.tokens)),
    cost: recorded.cost === null && replayed.cost === null
      ? null
      : text(dollars(recorded.cost), dollars(replayed.cost)),
  }
}

type Call = NonNullable<ReplayedRun['asked']>

/** "POST https://…"; a dash where there is no call. */
export function callText(call: Pick<Call, 'method' | 'url'> | null): string {
  return call === null ? '–' : `${call.method} ${call.url}`
}

/** The nodes of a call, or that it was outside of them. */
export function siteText(site: Call['site']): string {
  return site === null ? 'outside of nodes' : `step ${site.step}, ${site.nodes.join('/')}`
}

/** The runs that an address chooses, those that differ first. */
export function chosenRuns(runs: readonly ReplayedRun[],
  { verdict, group }: Pick<ReplaySearch, 'verdict' | 'group'>): readonly ReplayedRun[] {
  return runs
    .filter((run) =>
      (verdict === undefined || run.verdict === verdict)
      && (group === undefined || run.group === group)
    )
    .toSorted((a, b) => rankOf(a) - rankOf(b))
}

/** Order of the runs: those that need a look come first. */
const ranks: readonly Verdict[] = ['diverged', 'failed', 'fixed', 'same_result', 'unstable',
  'not_replayable', 'same']

function rankOf({ verdict }: ReplayedRun): number {
  return ranks.indexOf(verdict)
}

/** Times that a replay may go back, in seconds; 0 for any. */
export const sinceChoices = [
  [0, 'Any time'],
  [3_600, 'Last hour'],
  [86_400, 'Last 24 hours'],
  [604_800, 'Last 7 days'],
  [2_592_000, 'Last 30 days'],
] as const

/** Fields of the form of a replay. */
export interface ReplayDraft {
  readonly revision: string
  /** Empty for all graphs. */
  readonly graph: string
  readonly sinceS: number
  readonly sample: string
  readonly control: boolean
  readonly seconds: string
}

/** The form as it is opened. */
export const emptyDraft: ReplayDraft = { revision: '', graph: '', sinceS: 0, sample: '100',
  control: true, seconds: '60' }

/** The request that a form makes. */
export function bodyOf(
  { revision, graph, sinceS, sample, control, seconds }: ReplayDraft,
): ReplayBody {
  return { revision, sample: Number(sample), control, run_s: Number(seconds),
    ...graph !== '' && { graph_id: graph }, ...sinceS > 0 && { since_s: sinceS } }
}

/** Revisions that can be tried. */
export function triable(revisions: readonly Revision[]): readonly Revision[] {
  return revisions.filter(({ state }) => state === 'ready' || state === 'uploading')
}

/** The revision that is offered first: the newest one that is ready and not active yet. */
export function offeredRevision(revisions: readonly Revision[], active: string | null): string {
  const able = triable(revisions)
  const next = able.find(({ name, state }) => state === 'ready' && name !== active)
  return (next ?? able[0])?.name ?? ''
}
