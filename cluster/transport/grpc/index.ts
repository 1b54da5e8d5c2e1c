/** All that needs the library of gRPC: loaded only if there can be other members. */

export { grpcTransport } from './grpc-transport.ts'
export type { GrpcTransport, GrpcTransportOptions } from './grpc-transport.ts'
export type { LinkOptions } from './link.ts'
export { grpcProbe } from './probe.ts'
export { openGrpcServer } from './server.ts'
export type { GrpcServer, GrpcServerOptions } from './server.ts'
