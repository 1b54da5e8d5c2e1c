/** The description of the API with the routes of an app in it. Pure. */

import { isObject, memberOf } from '../../json/index.ts'
import { isKept } from './app-path.ts'

/** Characters before the names of what an app describes, which may be names of ours as well. */
const mark = 'app.'
const tag = 'App'

type Document = Readonly<Record<string, unknown>>

/** The description with the paths and the components of the app. Its own paths come first. */
export function withAppRoutes(described: object, openApi: unknown): object {
  if (!isObject(openApi)) return described
  const own = marked(openApi)
  const { paths, components, ...rest } = described as Document
  return { ...rest,
    paths: { ...tagged(own), ...objectAt(described, 'paths'), ...bothMethods(own, paths) },
    components: mergedComponents(components, own['components']) }
}

function bothMethods(own: Document, paths: unknown): Document {
  const shared = Object.entries(tagged(own)).filter(([path]) => memberOf(paths, path) !== undefined)
  return Object.fromEntries(
    shared.map(([path, methods]) => [path, { ...objectAt(paths, path), ...methods as object }]),
  )
}

/** The document with marked names of components, and references to them. */
function marked(openApi: object): Document {
  const text = JSON.stringify(openApi).replaceAll(/"#\/components\/(\w+)\//g,
    `"#/components/$1/${mark}`)
  const document = JSON.parse(text) as Document
  const components = Object.entries(objectAt(document, 'components')).map(([kind, named]) =>
    [kind, isObject(named)
      ? Object.fromEntries(Object.entries(named).map(([name, each]) => [mark + name, each]))
      : {}] as const
  )
  return { ...document, components: Object.fromEntries(components) }
}

/** Paths that the app may answer. Operations without a tag get one, so that they are shown. */
function tagged(own: Document): Document {
  const paths = Object.entries(objectAt(own, 'paths'))
    .filter(([path, methods]) => isObject(methods) && !isKept(path))
  return Object.fromEntries(paths.map(([path, methods]) => [path, Object.fromEntries(
    Object.entries(methods as object).map((
      [method, operation],
    ) => [method, isObject(operation) ? { tags: [tag], ...operation } : operation as unknown]),
  )]))
}

function mergedComponents(ours: unknown, own: unknown): Document {
  const kinds = new Set([...Object.keys(ours ?? {}), ...Object.keys(own ?? {})])
  return Object.fromEntries(
    [...kinds].map((kind) => [kind, { ...objectAt(ours, kind), ...objectAt(own, kind) }]),
  )
}

function objectAt(value: unknown, name: string): Document {
  const found = memberOf(value, name)
  return isObject(found) ? found : {}
}
