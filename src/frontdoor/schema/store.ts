/** The schemas of requests about items of the store. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { Json, JsonObject, Limit, Nullable } from './json.ts'

const Labels = (description: string) => Type.Array(Type.String(), { description })

const namespace = Labels('Labels, the outermost first. None is empty or has a ".", ":" or NUL.')
const Key = () => Type.String({ minLength: 1 })

/** Bounded, because every owner returns as many rows as come before a page. */
const Offset = () => Type.Integer({ minimum: 0, maximum: 100_000, default: 0 })

/** Body of requests that put an item. */
export const PutItem = Type.Object({
  namespace,
  key: Key(),
  value: JsonObject(),
  index: Type.Optional(
    Type.Union([Type.Null(), Type.Literal(false), Type.Array(Type.String(), { maxItems: 100 })], {
      description: 'Paths of the texts to be found by meaning, false for none; by default those ' +
        'of the project.',
    }),
  ),
  ttl: Type.Optional(
    Nullable(
      Type.Number({ exclusiveMinimum: 0,
        description: 'Minutes until it expires; null for never. By default as the project says.' }),
    ),
  ),
}, { examples: [{ namespace: ['users', 'ada'], key: 'food', value: { likes: 'plums' } }] })
/** A checked body of `PutItem`. */
export type PutItem = Static<typeof PutItem>

const refresh = Type.Optional(Nullable(Type.Boolean({
  description: 'Whether this moves the end of items that expire. By default as the project says.',
})))

/** Query of requests that read one item. */
export const ReadItem = Type.Object({
  key: Key(),
  namespace: Type.Optional(Type.Unsafe<string | string[]>({
    description: 'Labels joined by dots, or one label each time the parameter is repeated.',
  })),
  refresh_ttl: refresh,
})
/** A checked query of `ReadItem`. */
export type ReadItem = Static<typeof ReadItem>

/** Body of requests that delete an item. */
export const DeleteItem = Type.Object({ namespace: Type.Optional(Nullable(namespace)), key: Key() },
  { examples: [{ namespace: ['users', 'ada'], key: 'food' }] })
/** A checked body of `DeleteItem`. */
export type DeleteItem = Static<typeof DeleteItem>

/** Body of requests that search items. */
export const SearchItems = Type.Object({
  namespace_prefix: Type.Optional(Nullable(Labels('First labels; none for all namespaces.'))),
  filter: Type.Optional(Nullable(JsonObject({ description: 'Values by top-level key, or ' +
    'operators: $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin.' }))),
  query: Type.Optional(
    Nullable(
      Type.String({ maxLength: 100_000,
        description: 'A text. Items that are nearest to it come first, if the project embeds.' }),
    ),
  ),
  limit: Type.Optional(Limit()),
  offset: Type.Optional(Offset()),
  refresh_ttl: refresh,
}, { examples: [{ namespace_prefix: ['users', 'ada'], filter: { likes: 'plums' } }] })
/** A checked body of `SearchItems`. */
export type SearchItems = Static<typeof SearchItems>

const Path = (where: string) =>
  Type.Optional(Nullable(Labels(`${where} labels; "*" stands for any label.`)))

/** Body of requests that list namespaces. */
export const ListNamespaces = Type.Object({
  prefix: Path('First'),
  suffix: Path('Last'),
  max_depth: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, description: 'Labels after which namespaces are cut.' })),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
  offset: Type.Optional(Offset()),
}, { examples: [{ prefix: ['users'], max_depth: 2 }] })
/** A checked body of `ListNamespaces`. */
export type ListNamespaces = Static<typeof ListNamespaces>

const Time = () => Type.String({ format: 'date-time' })

const item = {
  namespace: Type.Array(Type.String()),
  key: Type.String(),
  value: JsonObject(),
  created_at: Time(),
  updated_at: Time(),
}

/** Schemas of answers about items. They only document. */
export const itemAnswers = [
  Type.Object(item, { $id: 'Item', nullable: true,
    description: 'The item; null if there is none.' }),
  Type.Object({
    items: Type.Array(
      Type.Object({ ...item, score: Nullable(
        Type.Number({ description: 'How near it is; null if that was not asked.' }),
      ) }),
    ),
  }, { $id: 'FoundItems', description: 'The newest first, or the nearest.' }),
  Type.Object({ namespaces: Type.Array(Type.Array(Json())) }, { $id: 'Namespaces',
    description: 'Each once, in the order of their labels.' }),
]
