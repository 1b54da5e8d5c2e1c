/** Saved views of projects: named filters, and the list that each is of. */

import { Type } from 'typebox'

import { Maybe, Nullable, Offset, OneOf, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'

/** The lists that a view may be of. The first is the default. */
export const viewTypes = ['runs', 'threads', 'single_run'] as const

/** Views of a project: all are in one page of a catalog. */
export const viewsMax = 100

const Fields = Type.Object({
  description: Nullable(Text(10_000)),
  filter_string: Nullable(Text(8_192)),
  trace_filter_string: Nullable(Text(8_192)),
  tree_filter_string: Nullable(Text(8_192)),
  start_time: Nullable(Text(100)),
  end_time: Nullable(Text(100)),
  // The time before now that it shows, in the client's own notation.
  duration: Nullable(Text(100)),
})
const given = { ...Type.Partial(Fields).properties, type: Maybe(OneOf(viewTypes)) }
const Name = () => Type.String({ minLength: 1, maxLength: 1_000 })
const Change = Type.Object({ ...given, display_name: Maybe(Name()) })

const View = Type.Object({
  id: Uuid(),
  session_id: Uuid(),
  display_name: Text(),
  type: OneOf(viewTypes),
  ...Fields.properties,
  created_at: Text(),
  updated_at: Text(),
}, { $id: 'View', description: 'A saved view of a project.' })

export const listViews = operation('GET', '/api/v1/sessions/:id/views', {
  access: 'read',
  summary: 'List the views of a project, the oldest first',
  query: Type.Object({
    type: Type.Optional(OneOf(viewTypes)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: viewsMax, default: viewsMax })),
    offset: Type.Optional(Offset()),
  }),
  answer: Type.Array(View),
  returns: ['x-pagination-total'],
})

export const createView = operation('POST', '/api/v1/sessions/:id/views', {
  access: 'change',
  summary: 'Save a view',
  body: Type.Object({ ...given, display_name: Name() }),
  answer: View,
})

export const getView = operation('GET', '/api/v1/sessions/:id/views/:view', {
  access: 'read',
  summary: 'Get a view',
  answer: View,
})

export const patchView = operation('PATCH', '/api/v1/sessions/:id/views/:view', {
  access: 'change',
  summary: 'Change a view: what is missing stays, as a name or a type that is null does',
  body: Change,
  answer: View,
})

export const deleteView = operation('DELETE', '/api/v1/sessions/:id/views/:view', {
  access: 'change',
  summary: 'Delete a view',
  answer: Type.Object({ message: Text() }),
})

/** A view as a client changes it. */
export type ViewBody = Value<typeof Change>
/** A saved view of a project. */
export type View = Value<typeof View>
