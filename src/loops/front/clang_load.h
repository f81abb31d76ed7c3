/*
 * clang_load.h - libclang 19's C API, loaded when C source is to be read.
 *
 * Loading takes tens of milliseconds and only one verb needs it, so the tool is
 * not linked against it. Functions are called through the table: clang.visitChildren(...)
 * calls clang_visitChildren(...).
 */
#ifndef RSC_LOOPS_FRONT_CLANG_LOAD_H
#define RSC_LOOPS_FRONT_CLANG_LOAD_H

#include <clang-c/Index.h>
#include <reusescope/error.h>

/* Every function of libclang that is used. Operator kinds came with version 17. */
#define RSC_CLANG_FUNCTIONS(X)        \
    X(createIndex)                    \
    X(parseTranslationUnit2)          \
    X(getTranslationUnitCursor)       \
    X(getNumDiagnostics)              \
    X(getDiagnostic)                  \
    X(getDiagnosticSeverity)          \
    X(getDiagnosticSpelling)          \
    X(getDiagnosticLocation)          \
    X(visitChildren)                  \
    X(getCursorKind)                  \
    X(isExpression)                   \
    X(isStatement)                    \
    X(isCursorDefinition)             \
    X(getEnumConstantDeclValue)       \
    X(getCursorExtent)                \
    X(getRangeStart)                  \
    X(getRangeEnd)                    \
    X(getSpellingLocation)            \
    X(getPresumedLocation)            \
    X(Location_isInSystemHeader)      \
    X(getCursorLocation)              \
    X(getCString)                     \
    X(disposeString)                  \
    X(getCursorSpelling)              \
    X(getCursorReferenced)            \
    X(getCanonicalCursor)             \
    X(getCursorDefinition)            \
    X(getCursorSemanticParent)        \
    X(getSpecializedCursorTemplate)   \
    X(getCursorTLSKind)               \
    X(equalCursors)                   \
    X(equalTypes)                     \
    X(Cursor_isNull)                  \
    X(getCursorType)                  \
    X(getCanonicalType)               \
    X(getTypeSpelling)                \
    X(getNullCursor)                  \
    X(getPointeeType)                 \
    X(getArrayElementType)            \
    X(getArraySize)                   \
    X(getResultType)                  \
    X(isConstQualifiedType)           \
    X(isVolatileQualifiedType)        \
    X(Type_getSizeOf)                 \
    X(getTypeDeclaration)             \
    X(getUnqualifiedType)             \
    X(isVirtualBase)                  \
    X(isPODType)                      \
    X(Type_visitFields)               \
    X(CXXMethod_isDefaulted)          \
    X(CXXMethod_isStatic)             \
    X(CXXMethod_isConst)              \
    X(CXXMethod_isVirtual)            \
    X(Type_getTemplateArgumentAsType) \
    X(Cursor_getOffsetOfField)        \
    X(Type_getOffsetOf)               \
    X(Cursor_isAnonymousRecordDecl)   \
    X(Cursor_getStorageClass)         \
    X(Cursor_getVarDeclInitializer)   \
    X(Cursor_isBitField)              \
    X(Cursor_Evaluate)                \
    X(EvalResult_getKind)             \
    X(EvalResult_isUnsignedInt)       \
    X(EvalResult_getAsLongLong)       \
    X(EvalResult_getAsUnsigned)       \
    X(EvalResult_dispose)             \
    X(getCursorBinaryOperatorKind)    \
    X(getCursorUnaryOperatorKind)     \
    X(Cursor_getNumArguments)         \
    X(Cursor_getArgument)

struct rsc_clang {
#define RSC_CLANG_MEMBER(name) __typeof__(&clang_##name) name;
    RSC_CLANG_FUNCTIONS(RSC_CLANG_MEMBER)
#undef RSC_CLANG_MEMBER
};

/* Loads the library into *clang. RSC_EUNSUPPORTED with the fix when there is none. */
int rsc_clang_load(struct rsc_clang *clang, struct rsc_error *error);

#endif
