/** All operations, by their names and by their addresses. */

import type { TSchema } from 'typebox'

import * as agents from './agents/a2a.ts'
import * as alertRules from './rules/alert-rules.ts'
import * as allRuns from './threads/all-runs.ts'
import * as assistants from './assistants.ts'
import * as builds from './control/builds.ts'
import * as bulkDeletions from './bulk-deletions.ts'
import * as charts from './charts.ts'
import * as cluster from './cluster.ts'
import * as components from './files/components.ts'
import * as crons from './crons.ts'
import * as datasetFiles from './datasets/dataset-files.ts'
import * as datasetRuns from './datasets/dataset-runs.ts'
import * as datasetShares from './datasets/dataset-shares.ts'
import * as datasets from './datasets/datasets.ts'
import * as deploymentLines from './control/deployment-lines.ts'
import * as deploymentSecrets from './control/deployment-secrets.ts'
import * as deployments from './control/deployments.ts'
import * as downloads from './files/downloads.ts'
import * as evaluators from './rules/evaluators.ts'
import * as experiments from './datasets/experiments.ts'
import * as examples from './datasets/examples.ts'
import * as feedback from './feedback.ts'
import * as hostedDeployments from './hosted/hosted-deployments.ts'
import * as hostedRevisions from './hosted/hosted-revisions.ts'
import * as ingest from './ingest/ingest.ts'
import * as keys from './keys.ts'
import * as limits from './limits.ts'
import * as mcp from './agents/mcp.ts'
import * as models from './models.ts'
import type { Also, Answer, Asks, Body, Operation, Params, Query, Value } from './operation.ts'
import * as otel from './ingest/otel.ts'
import * as pageLinks from './hosted/page-links.ts'
import * as playground from './playground.ts'
import * as projects from './traces/projects.ts'
import * as prompts from './prompts.ts'
import { getAgentResource, getToolResource } from './agents/protected-resource.ts'
import * as protocol from './threads/protocol.ts'
import * as publicDatasets from './datasets/public-datasets.ts'
import * as publicRuns from './traces/public-runs.ts'
import * as queues from './queues.ts'
import * as replays from './control/replays.ts'
import * as revisions from './control/revisions.ts'
import * as rollouts from './control/rollouts.ts'
import * as runShares from './traces/shares.ts'
import * as rules from './rules/rules.ts'
import * as serverReports from './traces/server-reports.ts'
import * as sql from './sql.ts'
import * as runs from './threads/runs.ts'
import * as server from './server.ts'
import * as statelessRuns from './threads/stateless-runs.ts'
import * as states from './threads/states.ts'
import * as store from './store.ts'
import * as threads from './threads/threads.ts'
import * as runCalls from './threads/run-calls.ts'
import * as threadUsage from './threads/thread-usage.ts'
import * as tracedRuns from './traces/runs.ts'
import * as tracedRunsV2 from './traces/runs-v2.ts'
import * as views from './traces/views.ts'

/** The Agent Deployment API. One of its operations that says not what it asks does not compile. */
const ofDeployments = asking({
  'Assistants': assistants,
  'Threads': { ...threads, ...threadUsage, ...runCalls, ...protocol },
  'State': states,
  'Runs': { ...runs, ...allRuns },
  'Stateless runs': statelessRuns,
  'Crons': crons,
  'Store': store,
  'Model Context Protocol': { ...mcp, getToolResource },
  'Components': components,
  'Agents': { ...agents, getAgentResource },
})

/** Files of operations, under the headings that they have in the documentation. */
const resources = {
  'Projects': { ...projects, ...views },
  'Traces': { ...tracedRuns, ...tracedRunsV2, ...runShares },
  'Public': { ...publicRuns, ...publicDatasets },
  'Datasets': { ...datasets, ...datasetFiles, ...datasetShares, ...datasetRuns },
  'Examples': examples,
  'Prompts': prompts,
  'Rules': rules,
  'Alert rules': alertRules,
  'Evaluators': evaluators,
  'Annotation queues': queues,
  'Ingest': { ...ingest, ...otel },
  'Feedback': feedback,
  'Charts': charts,
  'Models': models,
  'Playground': playground,
  'Experiments': experiments,
  'Bulk deletions': bulkDeletions,
  'SQL': sql,
  'Downloads': downloads,
  'Links to pages': pageLinks,
  ...ofDeployments,
  'Server': { ...server, ...serverReports, ...keys, ...limits, ...cluster },
  'Deployments': { ...deployments, ...revisions, ...builds, ...rollouts, ...replays,
    ...deploymentSecrets, ...deploymentLines },
  'Deployments by the official commands': { ...hostedDeployments, ...hostedRevisions },
} as const

/** An operation with its name, which generated clients have and which never changes. */
export interface NamedOperation {
  readonly operation: Operation
  readonly name: string
  readonly resource: string
}

/** Every operation. */
export const operations: readonly NamedOperation[] = Object.entries(resources)
  .flatMap(([resource, file]) =>
    Object.entries(file).filter(isOperation)
      .map(([name, operation]) => ({ operation, name, resource }))
  )

function isOperation(entry: readonly [string, unknown]): entry is [string, Operation] {
  const [, value] = entry
  return typeof value === 'object' && value !== null && 'method' in value
}

function asking<const Files extends Readonly<Record<string, object>>>(
  files: Unasked<Files> extends never ? Files : { readonly saysNotWhatItAsks: Unasked<Files> },
): Files {
  return files as Files
}

type Unasked<Files> = Exclude<Declared<Files[keyof Files]>, { readonly asks: Asks }>
type Declared<File> = File extends unknown ? Extract<File[keyof File], Operation> : never
type Any = Declared<(typeof resources)[keyof typeof resources]>
type ByRoute = { readonly [Each in Any as `${Each['method']} ${Each['path']}`]: Each }

/** A method and a path, such as `PATCH /api/v1/runs/rules/:id`, of an operation that exists. */
export type Route = keyof ByRoute

/** The parts of a request to an operation. Those that must be given are not optional. */
export type Asked<Of extends Route> =
  & Part<'params', Params<ByRoute[Of]>>
  & Part<'query', Query<ByRoute[Of]>>
  & Part<'body', Body<ByRoute[Of]>>

type Part<Name extends string, Given> = undefined extends Given ?
  { readonly [N in Name]?: undefined }
  : object extends Given ? { readonly [N in Name]?: Given }
  : { readonly [N in Name]: Given }

/** The route of an operation whose requests select members of the records that it answers. */
export type SelectingRoute = {
  [Each in Route]: ByRoute[Each] extends { readonly whole: TSchema } ? Each : never
}[Route]

/** Members that a request may select. */
export type Selectable<Of extends SelectingRoute> =
  | SelectIn<Query<ByRoute[Of]>>
  | SelectIn<Body<ByRoute[Of]>>

type SelectIn<Given> = Given extends { readonly select?: infer Names } ? NameIn<Names> : never
type NameIn<Names> = Names extends readonly (infer Name extends string)[] ? Name : never

/** The JSON that an operation answers to a request that selects these members. */
export type Selected<Of extends SelectingRoute, Name> = PartsOf<Whole<ByRoute[Of]>, Name,
  Selectable<Of>>

type Whole<Each> = Each extends { readonly whole: infer Schema extends TSchema } ? Value<Schema>
  : never
type PartsOf<Given, Name, All> = Given extends readonly (infer Each)[] ?
  readonly PartsOf<Each, Name, All>[]
  : {
    readonly [Each in keyof Given as Each extends Exclude<All, Name> ? never : Each]: Given[Each]
  }

/** The JSON that an operation answers. */
export type Answered<Of extends Route> = Answer<ByRoute[Of]> | Also<ByRoute[Of]>
