/** The environment of a graph worker as a plain object. */

/**
 * Reading a variable of the real environment is a call out of JavaScript, and the library does it
 * at every step. A worker's environment is a copy anyway: this makes it a plain object. Not on
 * Windows, where names are case-insensitive.
 */
export function copyEnvironment(): void {
  if (process.platform !== 'win32') process.env = { ...process.env }
}
