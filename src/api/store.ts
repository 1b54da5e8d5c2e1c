/** Items of the store, and the namespaces that they are in. */

import { Type } from 'typebox'

import { JsonObject, Limit, Nullable, SomeOf, Text, Time } from './json.ts'
import { operation } from './operation.ts'
import type { Body, Query } from './operation.ts'

const Labels = (description: string) => Type.Array(Type.String(), { description })

const namespace = Labels('Labels, the outermost first. None is empty or has a ".", ":" or NUL.')
const Key = () => Type.String({ minLength: 1 })

/** Bounded, because every owner returns as many rows as come before a page. */
const Offset = () => Type.Integer({ minimum: 0, maximum: 100_000, default: 0 })

const refresh = Type.Optional(Nullable(Type.Boolean({
  description: 'Whether this moves the end of items that expire. By default as the project says.',
})))

const Path = (where: string) =>
  Type.Optional(Nullable(Labels(`${where} labels; "*" stands for any label.`)))

const item = {
  namespace: Type.Array(Text()),
  key: Text(),
  value: JsonObject(),
  created_at: Time(),
  updated_at: Time(),
}

/** Members that only those see who ask for them. */
const Ttl = Type.Optional(
  Nullable(Type.Object({ ttl_minutes: Type.Number(), expires_at: Time() }, {
    description: 'When it ends, if `include` asks for it; null for never.',
  })),
)

const Item = Type.Object({ ...item, ttl: Ttl }, { $id: 'Item', description: 'An item.' })

const FoundItems = Type.Object({
  items: Type.Array(
    Type.Object({ ...item, score: Nullable(
      Type.Number({ description: 'How near it is; null if that was not asked.' }),
    ), ttl: Ttl }),
  ),
}, { $id: 'FoundItems', description: 'The newest first, or the nearest.' })

const Namespaces = Type.Object({ namespaces: Type.Array(Type.Array(Text())) }, { $id: 'Namespaces',
  description: 'Each once, in the order of their labels.' })

export const putItem = operation('PUT', '/store/items', {
  asks: 'store:put',
  access: 'change',
  summary: 'Store an item, or replace it',
  body: Type.Object({
    namespace,
    key: Key(),
    value: JsonObject(),
    index: Type.Optional(
      Type.Union([Type.Null(), Type.Literal(false), Type.Array(Type.String(), { maxItems: 100 })], {
        description:
          'Paths of the texts to be found by meaning, false for none; by default those ' +
          'of the project.',
      }),
    ),
    ttl: Type.Optional(
      Nullable(
        Type.Number({ exclusiveMinimum: 0,
          description:
            'Minutes until it expires; null for never. By default as the project says.' }),
      ),
    ),
  }, { examples: [{ namespace: ['users', 'ada'], key: 'food', value: { likes: 'plums' } }] }),
})

export const getItem = operation('GET', '/store/items', {
  asks: 'store:get',
  access: 'read',
  summary: 'Get an item, or null',
  query: Type.Object({
    key: Key(),
    namespace: Type.Optional(Type.Unsafe<string | string[]>({
      description: 'Labels joined by dots, or one label each time the parameter is repeated.',
    })),
    refresh_ttl: refresh,
    include: Type.Optional(SomeOf(['ttl'])),
  }),
  answer: Type.Union([Item, Type.Null()], { description: 'The item; null if there is none.' }),
})

export const deleteItem = operation('DELETE', '/store/items', {
  asks: 'store:delete',
  access: 'change',
  summary: 'Delete an item',
  body: Type.Object({ namespace: Type.Optional(Nullable(namespace)), key: Key() }, {
    examples: [{ namespace: ['users', 'ada'], key: 'food' }],
  }),
})

export const searchItems = operation('POST', '/store/items/search', {
  asks: 'store:search',
  access: 'read',
  summary: 'Search items below a namespace',
  body: Type.Object({
    namespace_prefix: Type.Optional(Nullable(Labels('First labels; none for all namespaces.'))),
    filter: Type.Optional(Nullable(JsonObject({ description: 'Values by top-level key, or ' +
      'operators: $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin.' }))),
    q: Type.Optional(
      Nullable(
        Type.String({ maxLength: 500,
          description: 'Words that all must be in the namespace, the key or the value.' }),
      ),
    ),
    query: Type.Optional(
      Nullable(
        Type.String({ maxLength: 100_000,
          description: 'A text. Items that are nearest to it come first, if the project embeds.' }),
      ),
    ),
    limit: Type.Optional(Limit()),
    offset: Type.Optional(Offset()),
    refresh_ttl: refresh,
    include: Type.Optional(Nullable(SomeOf(['ttl']))),
  }, { examples: [{ namespace_prefix: ['users', 'ada'], filter: { likes: 'plums' } }] }),
  answer: FoundItems,
})

export const listNamespaces = operation('POST', '/store/namespaces', {
  asks: 'store:list_namespaces',
  access: 'read',
  summary: 'List the namespaces of items',
  body: Type.Object({
    prefix: Path('First'),
    suffix: Path('Last'),
    max_depth: Type.Optional(
      Nullable(Type.Integer({ minimum: 1, description: 'Labels after which namespaces are cut.' })),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
    offset: Type.Optional(Offset()),
  }, { examples: [{ prefix: ['users'], max_depth: 2 }] }),
  answer: Namespaces,
})

/** An item as a client puts it. */
export type PutItem = Body<typeof putItem>
/** The name of an item, in a query. */
export type ReadItem = Query<typeof getItem>
/** The name of an item, in a body. */
export type DeleteItem = Body<typeof deleteItem>
/** Conditions and page of a search for items. */
export type SearchItems = Body<typeof searchItems>
/** Conditions and page of a list of namespaces. */
export type ListNamespaces = Body<typeof listNamespaces>
