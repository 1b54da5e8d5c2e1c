/** Setup of the tests of tracing clients: installs the clients, once. */

import { join } from 'node:path'

import { installPackages } from '../support/installed-packages.ts'

/** Vitest calls it once before the tests. */
export async function setup(): Promise<void> {
  await installPackages(import.meta.dirname, 'the clients that send traces')
  await installPackages(join(import.meta.dirname, 'otel-mode'), 'the client as OpenTelemetry')
}
