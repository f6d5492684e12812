# Sets out to a file of what tools/librdkafka and tools/datasketches keep in ~/.cache/millrace, of the last
# version where there are several; to nothing where there is none.
function(mr_find_cached out glob)
  set(cache "$ENV{XDG_CACHE_HOME}")
  if(NOT cache)
    set(cache "$ENV{HOME}/.cache")
  endif()
  file(GLOB found ${cache}/millrace/${glob})
  if(found)
    list(GET found -1 found)
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
