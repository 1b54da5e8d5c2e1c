/** Components of a user interface that graphs bring, as pages load them. */

import { Type } from 'typebox'

import { Text } from '../json.ts'
import { operation } from '../operation.ts'

const asks = { nothing: 'Components are code, and tell of no data.' }

export const loadComponent = operation('POST', '/ui/:graph_id', {
  asks,
  access: 'read',
  summary: 'The elements by which a page loads a component of a graph',
  body: Type.Object({ name: Text(1_000) }, { examples: [{ name: 'card' }] }),
  media: 'text/html',
})

/** Pages load it as a script or a style sheet, so it takes no credentials. */
export const readComponentFile = operation('GET', '/ui/:graph_id/:file', {
  asks,
  access: 'public',
  summary: 'Read a script or a style sheet of components, whose name only `POST /ui/{id}` tells',
  media: 'text/javascript',
})
