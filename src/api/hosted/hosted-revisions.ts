/** Revisions as the official commands follow them: their status, and lines of builds and code. */

import { Type } from 'typebox'

import { Maybe, Nullable, OneOf, Text, Time } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { HostedPath } from './hosted-deployments.ts'

const RevisionPath = Type.Object({ ...HostedPath.properties, revision: Text(63) })

const Revision = Type.Object({
  id: Text(),
  name: Text(),
  // Progress towards its roll-out. The last five end the wait of a command.
  status: OneOf(['AWAITING_BUILD', 'BUILDING', 'DEPLOYING', 'DEPLOYED', 'BUILD_FAILED',
    'DEPLOY_FAILED', 'SKIPPED']),
  status_message: Nullable(Text()),
  created_at: Time(),
  updated_at: Time(),
  source: Text(),
}, { $id: 'HostedRevision', description: 'A revision with its status.' })

const Line = Type.Object({
  // Its place among all.
  id: Text(),
  timestamp: Type.Number(),
  level: Text(),
  message: Text(),
})

const Lines = Type.Object({
  order: Type.Optional(OneOf(['asc', 'desc'])),
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  offset: Maybe(Text(40)),
  level: Type.Optional(Text(20)),
  query: Type.Optional(Text(1_000)),
  start_time: Type.Optional(Text(40)),
  end_time: Type.Optional(Text(40)),
})

const LinesPage = Type.Object({ logs: Type.Array(Line), next_offset: Nullable(Text()) }, {
  $id: 'HostedLines',
  description: 'A page of lines, and where the next one begins.',
})

export const listHostedRevisions = operation('GET', '/control/hosted/v2/deployments/:id/revisions',
  {
    access: 'deploy',
    summary: 'List revisions, the newest first',
    params: HostedPath,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    }),
    answer: Type.Object({ offset: Type.Integer(), resources: Type.Array(Revision) }),
  })

export const getHostedRevision = operation('GET',
  '/control/hosted/v2/deployments/:id/revisions/:revision', {
  access: 'deploy',
  summary: 'Get a revision',
  params: RevisionPath,
  answer: Revision,
})

const lines = { access: 'deploy', body: Lines, answer: LinesPage } as const

export const readHostedBuildLines = operation('POST',
  '/control/hosted/v1/projects/:id/revisions/:revision/build_logs', {
  ...lines,
  summary: 'Read the lines of a build',
  params: RevisionPath,
})

export const readHostedLines = operation('POST', '/control/hosted/v1/projects/:id/deploy_logs', {
  ...lines,
  summary: 'Read the lines that the code of a deployment wrote',
  params: HostedPath,
})

export const readHostedRevisionLines = operation('POST',
  '/control/hosted/v1/projects/:id/revisions/:revision/deploy_logs', {
  ...lines,
  summary: 'Read the lines that the code of a revision wrote',
  params: RevisionPath,
})

/** Progress of a revision towards its roll-out. */
export type HostedStatus = HostedRevision['status']
/** A revision as the official commands read it. */
export type HostedRevision = Value<typeof Revision>
/** A question for lines. */
export type HostedLinesBody = Value<typeof Lines>
/** A line with its place among all. */
export type HostedLine = Value<typeof Line>
/** A page of lines, and where the next one begins. */
export type HostedLinesPage = Value<typeof LinesPage>
