/** The REST wire: routes, their checks, bodies and documentation. */

import type { TObject } from 'typebox'

import { namedRecords } from '../http/documented.ts'
import type { App, RouteParts } from '../http/route.ts'
import { listCheckerOf } from '../schema/list-checker.ts'
import type { ListSchema } from '../schema/list-checker.ts'
import { undeclaredAt } from '../schema/undeclared.ts'
import { checkerOf } from '../schema/validation.ts'
import { allRunRoutes } from './all-runs.ts'
import { assistantRoutes } from './assistants.ts'
import { acceptJson } from './body.ts'
import type { BodyReaders } from './body.ts'
import { cronRoutes } from './crons.ts'
import { describeRoutes } from './description.ts'
import { answerNotFound } from './not-found.ts'
import { readQuery } from './query-string.ts'
import { runRoutes } from './runs.ts'
import { serverRoutes } from './server.ts'
import type { ServerDetails } from './server.ts'
import { statelessRunRoutes } from './stateless-runs.ts'
import { stateRoutes } from './states.ts'
import { storeRoutes } from './store.ts'
import { threadPlaceRoutes } from './thread-place.ts'
import type { ThreadPlaces } from './thread-place.ts'
import { threadStreamRoutes } from './thread-stream.ts'
import { threadRoutes } from './threads.ts'

/** Adds the REST API to an app. Call after the guard is added. */
export async function addRest(app: App,
  options: RouteParts & ServerDetails & BodyReaders & ThreadPlaces
): Promise<
  void
> {
  checkRequests(app)
  acceptJson(app, options)
  answerNotFound(app)
  await describeRoutes(app, options.version)
  serverRoutes(app, options)
  assistantRoutes(app, options)
  threadRoutes(app, options)
  threadPlaceRoutes(app, options)
  stateRoutes(app, options)
  runRoutes(app, options)
  threadStreamRoutes(app, options)
  statelessRunRoutes(app, options)
  allRunRoutes(app, options)
  cronRoutes(app, options)
  storeRoutes(app, options)
}

/** The same schemas check and document. Those of headers and answers only document. */
function checkRequests(app: App): void {
  app.setSerializerCompiler(() => (value) => JSON.stringify(value))
  app.setValidatorCompiler<TObject | ListSchema>(({ schema, httpPart, url }) => {
    if (httpPart === 'headers') return () => true
    const undeclared = undeclaredAt(url ?? '')
    const check = isList(schema)
      ? listCheckerOf(schema, undeclared)
      : checkerOf(schema, undeclared)
    const read = httpPart === 'querystring' && !isList(schema)
      ? (value: unknown) => readQuery(schema, value as Record<string, string>)
      : (value: unknown) => value
    return (value: unknown) => {
      try {
        return { value: check(read(value)) }
      } catch (error) {
        return { error: error as Error }
      }
    }
  })
  for (const schema of namedRecords()) app.addSchema(schema)
}

function isList(schema: TObject | ListSchema): schema is ListSchema {
  return 'minItems' in schema
}
