/** Routes that ask a prompt about the examples of a dataset. */

import { FairSemaphore } from '../../../../cluster/index.ts'
import { runExperiment, streamExperiment } from '../../../api/index.ts'
import type { Answer, ExperimentBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { experimentEvents, templateOf } from '../../../platform/index.ts'
import type { ExampleEvent, Project } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'
import { sendEvents } from './model-events.ts'
import type { ModelEvent } from './model-events.ts'

/** Experiments of one tenant in progress at one server. */
const experimentsEach = 4
/** Examples of one experiment. */
const examplesMax = 10_000

interface Started {
  readonly project: Project
  /** Call when it has ended. */
  leave(): void
  events(signal: AbortSignal): AsyncIterable<ExampleEvent>
}

/** Adds the routes below `/api/v1`. */
export function experimentRoutes(app: App, parts: PlatformParts): void {
  const turns = new FairSemaphore({ inAll: Infinity, each: experimentsEach, waiting: Infinity,
    waitingEach: 0, full: 'So many experiments are in progress already: wait for one of them.' })
  const start = async (tenant: string, body: ExperimentBody): Promise<Started> => {
    const leave = await turns.enter(tenant)
    try {
      return { leave, ...await begin(parts, tenant, body) }
    } catch (error) {
      leave()
      throw error
    }
  }
  serve(app, streamExperiment, async ({ body, caller: { tenant } }, reply) => {
    const started = await start(tenant, body)
    try {
      await sendEvents(parts, reply, (signal) => eventsOf(parts, tenant, started, signal))
    } finally {
      started.leave()
    }
  })
  serve(app, runExperiment, async ({ body, caller: { tenant } }, reply) => {
    const started = await start(tenant, body)
    try {
      const events = eventsOf(parts, tenant, started, leftSignal(reply))
      let next = await events.next()
      while (!next.done) next = await events.next()
      return next.value
    } finally {
      started.leave()
    }
  })
}

/** Makes the project. Throws before anything is asked. */
async function begin({ platform, env }: PlatformParts, tenant: string,
  body: ExperimentBody): Promise<Omit<Started, 'leave'>> {
  if (body.evaluator_rules?.length) {
    throw new HeddleError('invalid', 'evaluator_rules: make rules for the dataset. They see each ' +
      'of its experiments.')
  }
  const dataset = await platform.datasets.one(tenant, body.dataset_id)
  if (dataset.count > examplesMax && !body.dataset_splits?.length) {
    throw new HeddleError('invalid', `dataset_splits: choose some. The dataset has more than ` +
      `${examplesMax} examples, which one experiment may ask about.`)
  }
  const { call, render } = await templateOf(platform, tenant, body)
  await platform.tracedModels.requireCallable(tenant, call)
  const project = await platform.projects.create(tenant, { name: body.project_name,
    referenceDatasetId: dataset.id, startMs: env.nowMs() }, false)
  const { dataset_splits: splits } = body
  const examples = platform.datasets.examples(tenant, dataset, { limit: examplesMax,
    ...splits && { splits }, shown: { outputs: false, metadata: false, files: false } })
  return { project,
    events: (signal) =>
      experimentEvents({ tenant, project: project.name, call, messages: render, examples },
        platform.tracedModels, signal) }
}

/** The events of an experiment, and the data of the last one. */
async function* eventsOf({ platform, env }: PlatformParts, tenant: string,
  { project: { id, name }, events }: Started,
  signal: AbortSignal): AsyncGenerator<ModelEvent, Answer<typeof runExperiment>, void> {
  const project = { session_id: id, project_name: name }
  let [runs, errors] = [0, 0]
  yield { name: 'start', data: project }
  for await (const event of events(signal)) {
    if (event.kind === 'end') runs++
    else errors++
    yield { name: 'run', data: runJson(event) }
  }
  await platform.projects.patch(tenant, id, { endMs: env.nowMs() })
  const ended = { ...project, runs, errors }
  yield { name: 'end', data: ended }
  return ended
}

function runJson(event: ExampleEvent): object {
  const { example: example_id } = event
  switch (event.kind) {
    case 'end':
      return { example_id, run_id: event.id, text: event.answer.text, latency_ms: event.latencyMs }
    case 'error':
      return { example_id, run_id: event.id, error: event.error.code, detail: event.error.message }
    case 'skipped':
      return { example_id, run_id: null, error: event.error.code, detail: event.error.message }
  }
}
