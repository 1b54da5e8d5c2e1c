/** Compares with the contract what a test of the page answers in the place of the server. */

import type { Page, Request, Route } from 'playwright-core'

import { answerFault } from '../../support/contract-answer.ts'

type Handler = Parameters<Page['route']>[1]
type Fake = NonNullable<Parameters<Route['fulfill']>[0]>

/**
 * Checks each answer that is given as `json` to a request of the page. One that is not as the
 * contract has it is complained of, and ends the test. What older servers answer, and streams, are
 * given as `body`, and not checked.
 */
export function checkFakes(page: Page, complain: (fault: string) => void): void {
  const { route, unroute } = page
  const handlers = new WeakMap<Handler, Handler>()
  const checking = (handler: Handler): Handler => {
    const known = handlers.get(handler)
    const made = known ??
      ((asked: Route, request: Request) => handler(checked(asked, request, complain), request))
    handlers.set(handler, made)
    return made
  }
  page.route = (url, handler, options) => route.call(page, url, checking(handler), options)
  page.unroute = (url, handler) => unroute.call(page, url, handler && checking(handler))
}

function checked(route: Route, request: Request, complain: (fault: string) => void): Route {
  const { fulfill } = route
  route.fulfill = async (fake: Fake = {}) => {
    const fault = await faultOf(request, fake)
    await fulfill.call(route, fake)
    if (fault === undefined) return
    complain(fault)
    throw new Error(fault)
  }
  return route
}

async function faultOf(request: Request, fake: Fake): Promise<string | undefined> {
  const status = fake.status ?? fake.response?.status() ?? 200
  if (fake.json === undefined || status >= 300) return undefined
  // A deployment serves the same operations below its own name.
  const path = new URL(request.url()).pathname.replace(/^\/d\/[a-z0-9-]+(?=\/)/, '')
  return answerFault(request.method(), path, status, async () => fake.json as unknown)
}
