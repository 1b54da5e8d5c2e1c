/** Errors of guards, and the replacement of functions by guards. */

import { defineProperty } from './intrinsics.ts'

const ErrorClass = Error
const TypeErrorClass = TypeError

/** Returns the error of a class that is called as a function. */
export function calledWithoutNew(name: string): TypeError {
  return new TypeErrorClass(`${name} is a class: call it with \`new\`.`)
}

/** Returns the error that Node also throws where a permission is missing. */
export function accessDenied(message: string): Error {
  const error = new ErrorClass(message)
  defineProperty(error, 'code', { value: 'ERR_ACCESS_DENIED', enumerable: true })
  return error
}

/** Replaces a function for good: later code can neither restore nor replace it. */
export function replaceForGood(owner: object, name: string,
  replacement: (this: never, ...args: never[]) => unknown): void {
  defineProperty(owner, name, { value: replacement, writable: false, enumerable: true,
    configurable: false })
}
