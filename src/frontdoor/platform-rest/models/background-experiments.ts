/** Routes of experiments that go on after the answer. */

import { cancelExperiment, createExperiment, getExperiment,
  listExperiments } from '../../../api/index.ts'
import { experimentJson } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes below `/api/v1`. */
export function backgroundExperimentRoutes(app: App, { platform }: PlatformParts): void {
  const { experiments } = platform
  if (experiments === undefined) return

  serve(app, createExperiment,
    async ({ body, caller: { tenant } }) => experimentJson(await experiments.create(tenant, body)))
  serve(app, listExperiments,
    async ({ query: { dataset, limit = 10, offset = 0 }, caller: { tenant } }) =>
      (await experiments.list(tenant, { dataset, limit, offset })).map(experimentJson))
  serve(app, getExperiment,
    async ({ params, caller: { tenant } }) =>
      experimentJson(await experiments.get(tenant, requireId(params.id, 'experiment'))))
  serve(app, cancelExperiment,
    async ({ params, caller: { tenant } }) =>
      experimentJson(await experiments.cancel(tenant, requireId(params.id, 'experiment'))))
}
