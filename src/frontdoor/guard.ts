/** The guard of the front door: nothing is done for a request before it is known who asks. */

import { localCaller } from './caller.ts'
import type { App } from './rest/route.ts'

export function addGuard(app: App): void {
  app.decorateRequest('caller')
  app.addHook('onRequest', (request, _reply, done) => {
    request.caller = localCaller
    done()
  })
}
