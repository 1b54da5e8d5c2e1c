/** The answer to a path or a method that does not exist, or is turned off. */

import { HeddleError } from '../../errors.ts'
import type { App } from '../http/route.ts'

const unoffered: readonly (readonly [path: RegExp, what: string])[] = [
  [/^\/mcp$/, 'MCP is turned off by --mcp off.'],
]

/**
 * Adds the answer. Call before any route is added. Routes without documentation are never named.
 */
export function answerNotFound(app: App): void {
  const described: { readonly path: RegExp; readonly method: string }[] = []
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (schema?.tags === undefined) return
    const path = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`)
    for (const each of [method].flat()) described.push({ path, method: each })
  })
  app.setNotFoundHandler(({ method, url, originalUrl }) => {
    const path = url.split('?', 1)[0]!
    if (path.startsWith('/api/')) {
      throw new HeddleError('not_found',
        `There is no ${method} ${originalUrl.split('?', 1)[0]}; /docs lists what there is.`)
    }
    const [, what] = unoffered.find(([pattern]) => pattern.test(path)) ?? []
    if (what !== undefined) {
      throw new HeddleError('not_found', what)
    }
    const allow = described.filter((each) => each.path.test(path)).map((each) => each.method)
      .join(', ')
    if (allow === '') {
      throw new HeddleError('not_found',
        `There is no ${method} ${originalUrl.split('?', 1)[0]}; /docs lists what there is.`)
    }
    throw new HeddleError('wrong_method', `There is no ${method} ${path}: it takes ${allow}.`, {
      allow,
    })
  })
}
