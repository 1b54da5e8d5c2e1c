/** Works through the runs of an experiment that have not ended, some at a time. */

import type { Env, FairSemaphore } from '../../../../cluster/index.ts'
import type { RuleEvaluator } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CautiousClock } from '../../../limits/index.ts'
import { enterTurn } from '../../calls/in-turn.ts'
import type { Projects } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import type { Datasets } from '../datasets/datasets.ts'
import { templateOf } from './model-question.ts'
import type { ModelSources } from './model-question.ts'
import { hasEnded } from './background-experiment.ts'
import type { BackgroundExperiment } from './background-experiment.ts'
import type { ExperimentRecords } from './experiment-records.ts'
import { doRun, spanIdOf } from './experiment-run.ts'
import type { NumberedExample, RunningExperiment, RunParts } from './experiment-run.ts'
import type { ProgressKeeper } from './progress-keeper.ts'
import { LimitReached, remainingWaitMs } from './retry.ts'

/** Stores and calls that the experiments of one member work with. */
export interface ExperimentEngine extends RunParts {
  readonly records: ExperimentRecords
  readonly datasets: Pick<Datasets, 'examples' | 'get'>
  readonly projects: Pick<Projects, 'get' | 'patch'>
  readonly sources: ModelSources
  /** Undefined if it was deleted. */
  evaluatorOf(tenant: string, id: Uuid): Promise<RuleEvaluator | undefined>
  /** Runs of all tenants take turns here. */
  readonly turns: FairSemaphore
  readonly env: Pick<Env, 'nowMs' | 'uuid7' | 'after' | 'random'>
  /** The clock by which experiments wait, and by which entries without a record expire. */
  readonly cautiousNowMs: CautiousClock
}

/** Runs that may begin before the first one of them has ended. */
const windowRuns = 64

/**
 * Goes on until all runs have ended. Answers the milliseconds after which to go on, if a limit
 * holds it up. Throws final failures, and failures of this server.
 */
export async function runExperiment(engine: ExperimentEngine, tenant: string,
  keeper: ProgressKeeper, signal: AbortSignal): Promise<number | undefined> {
  const { waitsUntilMs } = keeper.experiment
  const leftMs = remainingWaitMs(waitsUntilMs, engine.cautiousNowMs())
  if (leftMs > 0) return leftMs
  const here = await begun(engine, tenant, keeper.experiment)
  const known = await knownSpans(engine, here, signal)
  const running = new Set<Promise<void>>()
  const stops: unknown[] = []
  const begin = (example: NumberedExample) => {
    const work = runInTurn(engine, here, { example, known, keeper }, signal)
      .catch((error: unknown) => void stops.push(error))
    running.add(work)
    void work.then(() => running.delete(work))
  }
  const atOnce = here.experiment.asked.max_concurrency ?? 4
  for await (const example of examplesOf(engine, here)) {
    if (hasEnded(keeper.experiment, example.no)) continue
    while (running.size >= atOnce || example.no >= keeper.experiment.next + windowRuns) {
      if (stops.length > 0) break
      await Promise.race(running)
    }
    if (stops.length > 0 || !keeper.isOpen) break
    signal.throwIfAborted()
    begin(example)
  }
  await Promise.all(running)
  signal.throwIfAborted()
  return await ended(engine, keeper, stops)
}

/** Notes why it stops. Answers when to go on. */
async function ended({ cautiousNowMs }: ExperimentEngine, keeper: ProgressKeeper,
  stops: readonly unknown[]): Promise<number | undefined> {
  const failure = stops.find((error) => !(error instanceof LimitReached))
  if (failure !== undefined) throw failure
  const limits = stops.filter((error) => error instanceof LimitReached)
  const longest = limits.toSorted((one, other) => other.waitMs - one.waitMs)[0]
  if (longest !== undefined) {
    await keeper.note({ kind: 'wait', untilMs: cautiousNowMs() + longest.waitMs,
      message: longest.message })
    return longest.waitMs
  }
  if (keeper.isOpen) {
    throw new HeddleError('not_found', 'Examples of the dataset are gone: they were erased.')
  }
  return undefined
}

async function begun(engine: ExperimentEngine, tenant: string,
  experiment: BackgroundExperiment): Promise<RunningExperiment> {
  const { asked, project: id } = experiment
  const [project] = await engine.projects.get(tenant, [id])
  if (project === undefined) throw new HeddleError('not_found', 'Its project was deleted.')
  const kept = await Promise.all((asked.evaluator_ids ?? [])
    .map((each) => engine.evaluatorOf(tenant, each)))
  const { assistant_id: assistant, prompt = null, manifest = null, model } = asked
  const template = assistant == null
    ? await templateOf(engine.sources, tenant, { prompt, manifest, model: model ?? undefined })
    : null
  return { tenant, experiment, project, template,
    evaluators: [...asked.evaluators ?? [], ...kept.filter((each) => each !== undefined)] }
}

/** Spans that were written by whoever went on before, and not written down as ended. */
async function knownSpans(engine: ExperimentEngine,
  { tenant, experiment, project }: RunningExperiment,
  signal: AbortSignal): Promise<ReadonlySet<Uuid>> {
  const { id, next, total } = experiment
  const count = Math.min(windowRuns, total - next)
  const ids = Array.from({ length: count }, (_, at) => spanIdOf(id, next + at))
  return new Set(
    await engine.query().spanIds({ tenant, projects: [project], ids, order: 'oldest',
      limit: windowRuns, version: 1 }, { signal }),
  )
}

async function* examplesOf({ datasets }: ExperimentEngine,
  { tenant, experiment }: RunningExperiment): AsyncGenerator<NumberedExample> {
  const { asked: { dataset_id: id, dataset_splits: splits, repetitions = 1 }, next, total,
    datasetVersion: asOf } = experiment
  const first = Math.floor(next / repetitions)
  const slices = datasets.examples(tenant, id, { asOf, offset: first,
    limit: Math.ceil(total / repetitions) - first, ...splits?.length && { splits },
    shown: { outputs: false, metadata: false, files: false } })
  let at = first
  for await (const { texts } of slices) {
    for (const text of texts) {
      const { id, inputs } = JSON.parse(text) as Omit<NumberedExample, 'no'>
      for (let repetition = 0; repetition < repetitions; repetition++) {
        yield { no: at * repetitions + repetition, id, inputs }
      }
      at++
    }
  }
}

async function runInTurn(engine: ExperimentEngine, here: RunningExperiment,
  { example, known, keeper }: { readonly example: NumberedExample;
    readonly known: ReadonlySet<Uuid>; readonly keeper: ProgressKeeper },
  signal: AbortSignal): Promise<void> {
  const leave = await enterTurn(engine.turns, here.tenant, signal)
  try {
    const isThere = known.has(spanIdOf(here.experiment.id, example.no))
    const run = await doRun(engine, here, example, isThere, signal)
    await keeper.note({ kind: 'end', run })
  } finally {
    leave()
  }
}
