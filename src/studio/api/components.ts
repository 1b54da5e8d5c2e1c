/** Components that graphs bring: their script and their style sheet, as text. */

import { queryOptions } from '@tanstack/react-query'

import { addressFor } from './address.ts'
import { ApiError, send } from './client.ts'

/** Code with which a frame draws components. */
export interface ComponentBundle {
  readonly script: string
  readonly sheet: string
  /** The variable in which the script leaves its function `render`. */
  readonly globalName: string
}

/** The components of a graph, which has one of this name; null if it has none. */
export const componentBundle = (graphId: string, name: string) =>
  queryOptions({ queryKey: ['components', graphId], staleTime: 30_000, queryFn: ({ signal }) =>
    bundleOf(graphId, name, signal) })

async function bundleOf(graphId: string, name: string,
  signal: AbortSignal): Promise<ComponentBundle | null> {
  const path = addressFor('POST /ui/:graph_id', { params: { graph_id: graphId }, body: { name } })
  const answer = await send(path, { method: 'POST', body: { name }, signal })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    })
  if (answer === null) return null
  const html = await answer.text()
  const textOf = async (kind: 'js' | 'css') => {
    const form = kind === 'js' ? /ui-[0-9a-f]{32}\.js(?=")/ : /ui-[0-9a-f]{32}\.css(?=")/
    const [file] = form.exec(html) ?? []
    if (file === undefined) return ''
    const params = { graph_id: graphId, file }
    return await (await send(addressFor('GET /ui/:graph_id/:file', { params }), { signal })).text()
  }
  const [script, sheet] = await Promise.all([textOf('js'), textOf('css')])
  return { script, sheet, globalName: /onload='(\w+)\.render/.exec(html)?.[1] ?? '' }
}
