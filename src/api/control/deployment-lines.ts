/** Events and log lines of deployments, as they come. */

import { Type } from 'typebox'

import { DeploymentPath, RevisionName, Whole } from './control-parts.ts'
import { Nullable, OneOf, Text, Time } from '../json.ts'
import { operation } from '../operation.ts'
import type { Query, Value } from '../operation.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const

const Line = Type.Object({
  at: Time(),
  level: OneOf(levels),
  member: Text(),
  revision: Text(),
  text: Text(),
  thread_id: Nullable(Text()),
  run_id: Nullable(Text()),
})

export const streamDeploymentEvents = operation('GET', '/control/v1/deployments/:deployment/events',
  {
    access: 'deploy',
    summary: 'Stream what is done with a deployment',
    params: DeploymentPath,
    query: Type.Object({
      follow: Type.Optional(
        Type.Boolean({ default: true, description: 'False to end at the newest event.' }),
      ),
    }),
    events: 'Server-sent events: `event` is the kind, `id` what `Last-Event-ID` takes, `data` ' +
      '{seq, at, by, kind} and what the kind has.',
  })

export const readDeploymentLogs = operation('GET', '/control/v1/deployments/:deployment/logs', {
  access: 'deploy',
  summary: 'Read the last lines that a deployment wrote on all members',
  params: DeploymentPath,
  query: Type.Object({
    follow: Type.Optional(Type.Boolean({ default: false })),
    revision: Type.Optional(RevisionName()),
    level: Type.Optional(OneOf(levels, { description: 'This level and those above.' })),
    since: Type.Optional(Time()),
    until: Type.Optional(Time()),
    q: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200,
        description: 'A text that is in the lines, in small or capital letters.' }),
    ),
    limit: Type.Optional(Whole(1, 5_000, { default: 1_000 })),
    build: Type.Optional(RevisionName({ description: 'The lines of this build instead.' })),
  }),
  events: 'Lines of JSON: {at, level, member, revision, text, thread_id, run_id}. With ' +
    '`Accept: text/event-stream` each one is the data of an event `line`. What is followed ends ' +
    'with {error, message}, or an event `error`, when the deployment is removed.',
})

/** Conditions on the lines that are read. */
export type LinesQuery = Query<typeof readDeploymentLogs>
/** A line that the code of a deployment wrote. */
export type ControlLine = Value<typeof Line>
