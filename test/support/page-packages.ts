/** Setup of the browser tests: installs the packages of their page. */

import { resolve } from 'node:path'

import { installPackages } from './installed-packages.ts'

/** Vitest calls it once. */
export function setup(): Promise<void> {
  return installPackages(resolve(import.meta.dirname, '../browser'), 'the packages of the page')
}
