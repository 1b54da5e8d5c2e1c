/** Routes that make a dataset of a file, or an experiment that ran elsewhere. */

import { uploadDataset, uploadExperiment } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { datasetChanged, nameIn, transferOf } from '../../../platform/index.ts'
import type { Dataset, Datasets, UploadForm } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import type { PlatformParts } from '../platform-route.ts'
import { jsonOf } from './datasets.ts'
import type { HeldBodies } from './held-bodies.ts'
import { experimentOf } from './upload-experiment.ts'

/** Adds the routes. The parser of the app must leave bodies as they came. */
export function uploadRoutes(app: App, parts: PlatformParts, bodies: HeldBodies): void {
  const { platform } = parts
  const { datasets } = platform
  serve(app, uploadExperiment,
    (request) => bodies.hold(request, (body) => experimentOf(parts, request.caller.tenant, body)))
  serve(app, uploadDataset, (request) => {
    const { caller: { tenant }, headers: { 'content-type': contentType = '' } } = request
    return bodies.hold(request, async (body) => {
      const form = await platform.ingest.readUpload({ tenant, body, contentType })
      const { id: dataset } = await datasetFor(datasets, tenant, form)
      try {
        await platform.ingest.addUpload({ tenant, dataset, body, contentType }, {
          transfer: transferOf(body),
        })
      } catch (error) {
        // Whatever else went wrong, the file may be sent again.
        if (isRefused(error)) await datasets.delete(tenant, dataset).catch(() => undefined)
        throw error
      }
      return jsonOf(parts, tenant, await datasets.one(tenant, dataset))
    })
  })
}

/** A new dataset, or the empty one that is left of the same file when a server died over it. */
async function datasetFor(datasets: Datasets, tenant: string,
  { name, description, dataType, content: upload }: UploadForm): Promise<Dataset> {
  const change = datasetChanged({ name, description, data_type: dataType })
  const needed = nameIn(name)
  try {
    return await datasets.create(tenant, { ...change, name: needed, upload })
  } catch (error) {
    if (HeddleError.from(error).code !== 'exists') throw error
    const { datasets: [left] } = await datasets.find(tenant, { name: needed, sortBy: 'created',
      descending: true, limit: 1, offset: 0 })
    if (left?.upload !== upload || left.head !== null) throw error
    return left
  }
}

function isRefused(error: unknown): boolean {
  const { code } = HeddleError.from(error)
  return code === 'invalid' || code === 'too_large'
}
